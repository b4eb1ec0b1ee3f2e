"""Tests of the scripts that measure."""

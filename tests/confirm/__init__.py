"""Tests of the confirm layer."""

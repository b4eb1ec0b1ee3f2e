"""Statements that show by themselves that something is not meant."""

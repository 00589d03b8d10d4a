"""Readers of recorded runs, one for each form that they come in."""

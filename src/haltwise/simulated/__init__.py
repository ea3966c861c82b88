"""Simulated agents and repair loops with known parameters, always labelled as simulated."""

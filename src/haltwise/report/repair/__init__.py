"""Figures and pages on verify-repair loops."""

"""Figures and pages on search loops."""

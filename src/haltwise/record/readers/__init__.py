"""Readers of trace formats, one file each; each yields episodes and named skips."""

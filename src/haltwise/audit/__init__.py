"""Findings on recorded runs: what the agents do with their own verdicts, and what it costs."""

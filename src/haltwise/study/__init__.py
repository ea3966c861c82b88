"""Experiments on live models: the search study and the verify-repair study."""

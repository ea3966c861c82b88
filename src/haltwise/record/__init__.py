"""Recorded episodes: their shape, their files, and the readers of other people's traces."""

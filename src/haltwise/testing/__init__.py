"""The test kit that extensions are checked with; nothing else here imports it."""

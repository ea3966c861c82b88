"""The pure core: events in, decisions out. Standard library only; no clock, randomness or I/O."""

"""Statistics: arrays in, `Estimate` out. Knows nothing of agents, files or terminals."""

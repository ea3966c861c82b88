"""Who gives a verdict or a vote: models that can be asked about a result or a candidate."""

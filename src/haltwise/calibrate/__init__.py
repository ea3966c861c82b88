"""From recorded loops to fitted parameters, the evidence for them, and the rule they support."""

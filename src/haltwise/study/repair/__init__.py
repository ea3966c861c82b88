"""The verify-repair study: tasks, graders, the loop on live models, and its analysis."""

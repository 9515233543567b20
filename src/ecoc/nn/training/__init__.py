"""Training: settings, batches, objectives, the loop, its checkpoints, and ways to train columns."""

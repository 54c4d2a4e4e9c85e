"""The infrastructure of a learner: environments, metrics, checkpoints, pause and stop."""

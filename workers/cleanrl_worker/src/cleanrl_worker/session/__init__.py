"""Everything around an algorithm: environments, metrics, checkpoints, pause and stop."""

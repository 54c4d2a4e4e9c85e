"""A worker for tests that plays with a checkpoint."""

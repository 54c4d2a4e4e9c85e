"""A worker for tests that plays with its own policy."""

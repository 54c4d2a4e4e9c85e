"""A worker for tests: its metrics depend only on its parameters."""

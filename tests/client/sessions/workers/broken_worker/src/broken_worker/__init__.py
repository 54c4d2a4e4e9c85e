"""A worker for tests that fails to start a session."""

"""The left dock: environment, actor, seed and mode of a session."""

"""The left dock: what is played, and by whom."""

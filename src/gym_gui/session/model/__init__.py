"""State and operations; QtCore only."""

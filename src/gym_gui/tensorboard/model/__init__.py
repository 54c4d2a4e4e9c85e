"""State and what can be done with it; QtCore only."""

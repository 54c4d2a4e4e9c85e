"""State and actions; QtCore only."""

"""Models and texts that several rooms share; QtCore only."""

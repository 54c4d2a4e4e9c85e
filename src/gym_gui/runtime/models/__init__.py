"""Models and formatting shared by several rooms; QtCore only."""

"""The settings page, a section for each topic."""

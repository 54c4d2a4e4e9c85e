"""The settings page, one section per topic."""

"""Records episodes so that they can be played again exactly."""

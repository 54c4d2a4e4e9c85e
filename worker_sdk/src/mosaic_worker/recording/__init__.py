"""Records episodes so that they can be replayed exactly."""

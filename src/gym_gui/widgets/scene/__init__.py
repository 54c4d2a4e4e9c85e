"""Grid and text scenes of an environment, painted."""

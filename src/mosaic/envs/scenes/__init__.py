"""Scenes of grid and text environments, created from recorded steps."""

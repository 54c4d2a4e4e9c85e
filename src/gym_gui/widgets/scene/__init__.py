"""Rendering of grid and text scenes."""

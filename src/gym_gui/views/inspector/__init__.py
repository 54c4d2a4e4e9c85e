"""The step inspector: all that one step says."""

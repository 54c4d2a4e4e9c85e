"""`mosaic replay`: look at a recorded episode, prove it, or write it to a file."""

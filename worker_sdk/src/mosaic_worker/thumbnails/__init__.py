"""Renders thumbnails of environments in a helper process of the trainer daemon."""

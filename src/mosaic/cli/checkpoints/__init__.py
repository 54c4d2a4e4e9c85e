"""`mosaic checkpoints`: saved policies."""

"""The mosaic command line."""

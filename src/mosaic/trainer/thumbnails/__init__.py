"""Thumbnails of environments, rendered in the session worker's bundle by a helper process."""

"""Saved action-value tables: file format, compatibility with environments, and saving."""

"""Widgets without a model of a room."""

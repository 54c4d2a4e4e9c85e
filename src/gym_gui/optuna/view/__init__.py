"""Widgets, each bound to one model."""

"""Fetching and streaming, on threads."""

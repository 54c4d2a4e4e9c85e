"""Runs a user's own CleanRL scripts unmodified, and converts their output to telemetry."""

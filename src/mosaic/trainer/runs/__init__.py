"""Runs: queue, start, monitoring, pause, stop, recovery."""

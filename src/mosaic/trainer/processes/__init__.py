"""Processes of runs: the supervisor, starting, observing, commanding and ending a worker."""

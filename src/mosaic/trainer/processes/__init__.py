"""Processes of runs: the supervisor; starting, observing and terminating workers."""

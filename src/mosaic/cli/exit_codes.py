"""Exit codes of `mosaic`. A usage error is 2, click's own code."""

FAILED = 1
"""The run or the check failed."""
UNREACHABLE = 3
"""The daemon cannot be reached."""
INTERRUPTED = 130
"""Ctrl-C."""

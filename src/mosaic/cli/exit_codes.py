"""What the exit code of `mosaic` means."""

FAILED = 1
"""The run or the check failed."""
INTERRUPTED = 130

"""What the exit code of `mosaic` means. Wrong use is 2, which click gives by itself."""

FAILED = 1
"""The run or the check failed."""
UNREACHABLE = 3
"""The daemon cannot be reached."""
INTERRUPTED = 130

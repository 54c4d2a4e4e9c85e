"""How long a process has lived, by the kernel's own clock: jumps of the wall clock do not count."""

import os
import time

from mosaic.contract.process_records import StartedRecord

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def age_s(started: StartedRecord) -> float:
    """Seconds since the worker was started, in the same boot."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started.start_ticks / _TICKS_PER_S

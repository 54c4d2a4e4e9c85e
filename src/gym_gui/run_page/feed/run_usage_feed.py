"""RunUsageFeed: CPU and memory usage of a run from its heartbeats, and details of its machine.

The worker reported the samples, so they exist after a restart and for old runs too.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject

from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import ClosableStream
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.errors import UserError
from mosaic.contract.events import Heartbeat
from mosaic.contract.layout import Home
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.readiness import DaemonHealth

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_MAX_BATCH = 4_000


class UsageSample(NamedTuple):
    """All processes of the run at one time. None where a value was not reported."""

    t: float
    rss_bytes: int | None
    cpu_s: float | None
    """CPU seconds used since the start."""
    threads: int | None
    processes: int | None


@dataclass(frozen=True, slots=True)
class MachineInfo:
    """The daemon's machine, and the exit record of a finished run."""

    health: DaemonHealth
    exit: ExitRecord | None


def fetch_machine(client: "TrainerClient", home: Home, run_id: str) -> MachineInfo:
    """Blocks. Raises `UserError`."""
    try:
        exit_record = ExitRecord.read(home.run(run_id).exit)
    except UserError:
        exit_record = None
    return MachineInfo(client.health(), exit_record)


class RunUsageFeed(RunStream[UsageSample]):
    """Reads from the first heartbeat."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, ticker, "usage of a run", _MAX_BATCH, parent)

    def open_stream(self, client: "TrainerClient", run_id: str) -> ClosableStream[UsageSample]:
        return _Samples(client.events(run_id, kind="heartbeat", follow=True))


class _Samples:
    """Heartbeats as samples, decoded on the thread that reads them."""

    def __init__(self, stream: ClosableStream[EventLine]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[UsageSample]:
        for line in self._stream:
            heartbeat = line.decode()
            if isinstance(heartbeat, Heartbeat) and math.isfinite(heartbeat.t):
                cpu_s = (
                    heartbeat.cpu_s
                    if heartbeat.cpu_s is not None and math.isfinite(heartbeat.cpu_s)
                    else None
                )
                yield UsageSample(
                    heartbeat.t, heartbeat.rss_bytes, cpu_s, heartbeat.threads, heartbeat.processes
                )

    def close(self) -> None:
        self._stream.close()

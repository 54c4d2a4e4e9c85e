"""RunUsageFeed: what a run takes of its machine, from its heartbeats; and of which machine.

The samples are those that the worker told, so they are there after a restart and for old runs too.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject

from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import Closable
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

_MOST_AT_ONCE = 4_000


class UsageSample(NamedTuple):
    """Of all processes of the run, at one moment. What was not told is None."""

    t: float
    rss_bytes: int | None
    cpu_s: float | None
    """Used since the beginning."""
    threads: int | None
    processes: int | None


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The machine of the daemon, and what the run took in all when it is over."""

    health: DaemonHealth
    exit: ExitRecord | None


def fetch_machine(client: "TrainerClient", home: Home, run_id: str) -> MachineFacts:
    """Raises `UserError`. Waits."""
    try:
        ended = ExitRecord.read(home.run(run_id).exit)
    except UserError:
        ended = None
    return MachineFacts(client.health(), ended)


class RunUsageFeed(RunStream[UsageSample]):
    """From the first heartbeat on."""

    def __init__(self, link: TrainerLink, pulse: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, pulse, "usage of a run", _MOST_AT_ONCE, parent)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[UsageSample]:
        return _Samples(client.events(run_id, kind="heartbeat", follow=True))


class _Samples:
    """Heartbeats as samples, decoded on the thread that reads them."""

    def __init__(self, stream: Closable[EventLine]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[UsageSample]:
        for line in self._stream:
            beat = line.decode()
            if isinstance(beat, Heartbeat) and math.isfinite(beat.t):
                cpu_s = beat.cpu_s if beat.cpu_s is not None and math.isfinite(beat.cpu_s) else None
                yield UsageSample(beat.t, beat.rss_bytes, cpu_s, beat.threads, beat.processes)

    def close(self) -> None:
        self._stream.close()

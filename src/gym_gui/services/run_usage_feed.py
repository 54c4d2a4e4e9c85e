"""RunUsageFeed: what a run takes of its machine, from its heartbeats; and of which machine.

The samples are those that the worker told, so they are there after a restart and for old runs too.
"""

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject

from gym_gui.services.pulse import Pulse
from gym_gui.services.stream_thread import Closable, StreamThread
from gym_gui.services.trainer_link import TrainerLink
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


class RunUsageFeed(QObject):
    """For the UI thread. Closed before the link is."""

    def __init__(self, link: TrainerLink, pulse: Pulse, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._pulse = pulse
        self._run_id = ""
        self._stream: StreamThread[UsageSample] | None = None
        self._threads: list[threading.Thread] = []
        link.connected.connect(self._begin)

    def show(self, run_id: str) -> None:
        """From its first heartbeat on; an empty id ends it."""
        self.close()
        self._run_id = run_id
        if self._link.has_client:
            self._begin()

    def take(self) -> list[UsageSample]:
        return self._stream.take() if self._stream else []

    @property
    def threads(self) -> list[threading.Thread]:
        return [thread for thread in self._threads if thread.is_alive()]

    def close(self) -> None:
        """Does not wait."""
        self._run_id = ""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _begin(self) -> None:
        if not self._run_id or self._stream is not None:
            return
        client, run_id = self._link.client, self._run_id
        self._stream = StreamThread(
            "usage of a run",
            lambda: _Samples(client.events(run_id, kind="heartbeat", follow=True)),
            self._pulse.wake,
            _MOST_AT_ONCE,
        )
        self._threads = [*self.threads, self._stream.thread]


class _Samples:
    """Heartbeats as samples, decoded on the thread that reads them."""

    def __init__(self, stream: Closable[EventLine]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[UsageSample]:
        for line in self._stream:
            beat = line.decoded()
            if isinstance(beat, Heartbeat) and math.isfinite(beat.t):
                cpu_s = beat.cpu_s if beat.cpu_s is not None and math.isfinite(beat.cpu_s) else None
                yield UsageSample(beat.t, beat.rss_bytes, cpu_s, beat.threads, beat.processes)

    def close(self) -> None:
        self._stream.close()

"""RunFollower: the threads that follow one run and hand on what they see.

Three streams, one thread each: the run's record, its newest step, and all its other lines. A daemon
that goes and comes back is waited for; nothing is missed but steps that are no longer the newest.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.streams import Stream
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.decode import AnyEvent
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.run_events import RunDeleted, RunEvent
from mosaic.contract.runs import RunQuery, RunRecord

_log = logging.getLogger(__name__)

_AGAIN_S = 1.0
_LAST_LINES_S = 5.0
"""How long the end of a run is held back so that its last lines come before it."""


@dataclass(frozen=True, slots=True)
class RunSeen:
    """The run as it is now."""

    run: RunRecord


@dataclass(frozen=True, slots=True)
class StepSeen:
    """The newest step."""

    step: StepRecord


@dataclass(frozen=True, slots=True)
class LineSeen:
    """A line that is neither a step nor a metric."""

    event: AnyEvent


@dataclass(frozen=True, slots=True)
class FollowingFailed:
    """The run cannot be followed any more: deleted, or refused."""

    error: UserError


News = RunSeen | StepSeen | LineSeen | FollowingFailed


class RunFollower:
    """Of one run. `tell` is called on the follower's threads, and must not block."""

    def __init__(self, client: TrainerClient, run_id: str, tell: Callable[[News], None]) -> None:
        self._client = client
        self._run_id = run_id
        self._tell = tell
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._streams: set[Stream[Any]] = set()
        self._last_step = self._last_line = self._last_event = -1
        self._readers = [
            self._thread("steps", self._open_steps, self._take_step),
            self._thread("lines", self._open_lines, self._take_line),
        ]
        self._watcher = self._thread("record", self._open_record, self._take_record)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._readers, self._watcher)

    def start(self) -> None:
        """From the run as it is now."""
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        """From any thread; the threads end by themselves."""
        with self._lock:
            self._closing.set()
            streams = list(self._streams)
        for stream in streams:
            stream.close()

    def _thread(
        self, what: str, open_stream: Callable[[], Stream[Any]], take: Callable[[Any], None]
    ) -> threading.Thread:
        return threading.Thread(
            target=self._follow,
            args=(open_stream, take),
            name=f"session-{what}-{self._run_id[-6:]}",
            daemon=True,
        )

    def _follow(self, open_stream: Callable[[], Stream[Any]], take: Callable[[Any], None]) -> None:
        while not self._closing.is_set():
            try:
                self._read(open_stream(), take)
            except DaemonUnreachableError:
                self._closing.wait(_AGAIN_S)
            except UserError as error:
                self._tell(FollowingFailed(error))
                return
            except Exception as error:  # noqa: BLE001 - the edge of a thread: the session must know
                if not self._closing.is_set():
                    _log.exception("C210 a session stopped following its run by a bug")
                    self._tell(FollowingFailed(_bug(error)))
                return
            else:
                return

    def _read(self, stream: Stream[Any], take: Callable[[Any], None]) -> None:
        with self._lock:
            if self._closing.is_set():
                return
            self._streams.add(stream)
        try:
            with stream:
                for item in stream:
                    take(item)
        finally:
            with self._lock:
                self._streams.discard(stream)

    def _open_steps(self) -> Stream[Any]:
        return self._client.steps(
            self._run_id, after=self._last_step, follow=True, newest_only=True
        )

    def _take_step(self, numbered: tuple[int, StepRecord]) -> None:
        self._last_step, step = numbered
        self._tell(StepSeen(step))

    def _open_lines(self) -> Stream[Any]:
        return self._client.events(self._run_id, after=self._last_line, follow=True)

    def _take_line(self, line: Any) -> None:
        self._last_line = line.seq
        self._tell(LineSeen(line.decoded()))

    def _open_record(self) -> Stream[Any]:
        if self._last_event < 0:
            self._last_event = self._client.page(RunQuery(page_size=1)).last_event_seq
        # Looked at after that, so what happens meanwhile is told twice, never missed.
        self._take_run(self._client.run(self._run_id).run)
        return self._client.watch(after_seq=self._last_event, run_ids=(self._run_id,), digests=True)

    def _take_record(self, event: RunEvent) -> None:
        self._last_event = max(self._last_event, event.seq)
        if isinstance(event.what, RunDeleted):
            self._client.run(self._run_id)  # which says that there is no such run
        if event.run is not None:
            self._take_run(event.run)

    def _take_run(self, run: RunRecord) -> None:
        if run.state.is_final:
            for reader in self._readers:
                reader.join(_LAST_LINES_S)
        self._tell(RunSeen(run))
        if run.state.is_final:
            self.close()


def _bug(error: Exception) -> UserError:
    return UserError(
        f"The run is not followed any more because of a bug: {error!r}.",
        remedy="Attach to it again; the log of this program says more.",
        code="C222",
    )

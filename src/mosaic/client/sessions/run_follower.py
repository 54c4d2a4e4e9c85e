"""RunFollower: follows one run on threads and reports updates.

Three streams, one thread each: the record of the run, its steps, and its other events. The streams
reconnect to a restarted daemon. With a mailbox, every line of an episode is also put there, and a
consumer that is slow delays the streams; without one, only the newest step is read.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.mailbox import Mailbox
from mosaic.client.sessions.episode_tracker import EpisodeLine
from mosaic.client.streams import Stream
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.decode import AnyEvent
from mosaic.contract.errors import UserError
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord
from mosaic.contract.run_events import RunDeleted, RunEvent
from mosaic.contract.runs import RunQuery, RunRecord

_log = logging.getLogger(__name__)

_RETRY_S = 1.0
_DRAIN_TIMEOUT_S = 5.0
"""How long the end of a run is delayed so that its last events are reported first."""


@dataclass(frozen=True, slots=True)
class RecordUpdate:
    """The record of the run changed."""

    run: RunRecord


@dataclass(frozen=True, slots=True)
class StepUpdate:
    """A newer step arrived."""

    step: StepRecord


@dataclass(frozen=True, slots=True)
class EventUpdate:
    """An event arrived that is neither a step nor a metric."""

    event: AnyEvent


@dataclass(frozen=True, slots=True)
class FollowFailed:
    """The run can no longer be followed: it was deleted, or the daemon rejected a call."""

    error: UserError


RunUpdate = RecordUpdate | StepUpdate | EventUpdate | FollowFailed


class RunFollower:
    """Follows one run. `on_update` is called on the follower's threads and must not block."""

    def __init__(
        self,
        client: TrainerClient,
        run_id: str,
        on_update: Callable[[RunUpdate], None],
        lines: Mailbox[EpisodeLine] | None = None,
    ) -> None:
        self._client = client
        self._lines = lines
        self._run_id = run_id
        self._on_update = on_update
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._streams: set[Stream[Any]] = set()
        self._last_step = self._last_event_line = self._last_run_event = -1
        self._readers = [
            self._make_thread("steps", self._open_steps, self._handle_step),
            self._make_thread("events", self._open_events, self._handle_event),
        ]
        self._watcher = self._make_thread("record", self._open_record, self._handle_run_event)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._readers, self._watcher)

    def start(self) -> None:
        """Start following; the current record is reported first."""
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        """Stop following. Thread-safe; returns before the threads have ended.

        The owner of the mailbox closes it, too: a thread may be blocked there.
        """
        with self._lock:
            self._closing.set()
            streams = list(self._streams)
        for stream in streams:
            stream.close()

    def _make_thread(
        self, name: str, open_stream: Callable[[], Stream[Any]], handle: Callable[[Any], None]
    ) -> threading.Thread:
        return threading.Thread(
            target=self._follow,
            args=(open_stream, handle),
            name=f"session-{name}-{self._run_id[-6:]}",
            daemon=True,
        )

    def _follow(
        self, open_stream: Callable[[], Stream[Any]], handle: Callable[[Any], None]
    ) -> None:
        while not self._closing.is_set():
            try:
                self._read(open_stream(), handle)
            except DaemonUnreachableError:
                self._closing.wait(_RETRY_S)
            except UserError as error:
                self._on_update(FollowFailed(error))
                return
            except Exception as error:  # noqa: BLE001 - thread boundary: reported to the session
                if not self._closing.is_set():
                    _log.exception("C210 following a run failed unexpectedly")
                    self._on_update(FollowFailed(_unexpected(error)))
                return
            else:
                return

    def _read(self, stream: Stream[Any], handle: Callable[[Any], None]) -> None:
        with self._lock:
            if self._closing.is_set():
                return
            self._streams.add(stream)
        try:
            with stream:
                for item in stream:
                    handle(item)
        finally:
            with self._lock:
                self._streams.discard(stream)

    def _open_steps(self) -> Stream[Any]:
        return self._client.steps(
            self._run_id,
            after=self._last_step,
            follow=True,
            newest_only=self._lines is None,
        )

    def _handle_step(self, numbered: tuple[int, StepRecord]) -> None:
        self._last_step, step = numbered
        if self._lines is not None:
            self._lines.put(step)
        self._on_update(StepUpdate(step))

    def _open_events(self) -> Stream[Any]:
        return self._client.events(self._run_id, after=self._last_event_line, follow=True)

    def _handle_event(self, line: Any) -> None:
        self._last_event_line = line.seq
        event = line.decode()
        if self._lines is not None and isinstance(event, EpisodeStart | EpisodeEnd):
            self._lines.put(event)
        self._on_update(EventUpdate(event))

    def _open_record(self) -> Stream[Any]:
        if self._last_run_event < 0:
            self._last_run_event = self._client.runs_page(RunQuery(page_size=1)).last_event_seq
        # Read after that, so a change in between is reported twice, never missed.
        self._report_run(self._client.run(self._run_id).run)
        return self._client.watch(
            after_seq=self._last_run_event, run_ids=(self._run_id,), digests=True
        )

    def _handle_run_event(self, event: RunEvent) -> None:
        self._last_run_event = max(self._last_run_event, event.seq)
        if isinstance(event.what, RunDeleted):
            self._client.run(self._run_id)  # raises: the run no longer exists
        if event.run is not None:
            self._report_run(event.run)

    def _report_run(self, run: RunRecord) -> None:
        if run.state.is_final:
            for reader in self._readers:
                reader.join(_DRAIN_TIMEOUT_S)
        self._on_update(RecordUpdate(run))
        if run.state.is_final:
            if self._lines is not None:
                for reader in self._readers:
                    reader.join()  # until every line was put, or `close` was called
            self.close()


def _unexpected(error: Exception) -> UserError:
    return UserError(
        f"The run can no longer be followed because of an internal error: {error!r}.",
        remedy="Attach to it again; see the log of this program.",
        code="C222",
    )

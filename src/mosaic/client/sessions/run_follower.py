"""RunFollower and FrameSource: what a session receives of one run, on threads.

Three streams, one thread each: the record of the run, its steps, and its other events. The streams
reconnect to a restarted daemon. With a mailbox, every line of an episode is also put there, and a
consumer that is slow delays the streams; without one, only the newest step is read.

Frames are read from the worker's frame file if the run's directory is on this machine. Otherwise
the daemon streams frames, starting with the first request for one.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.mailbox import Mailbox
from mosaic.client.results import Frame
from mosaic.client.sessions.session_state import EpisodeLine
from mosaic.client.streams import Stream
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.decode import AnyEvent
from mosaic.contract.errors import UserError
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord
from mosaic.contract.frame_file import FrameReader
from mosaic.contract.layout import Home
from mosaic.contract.run_events import RunDeleted, RunEvent
from mosaic.contract.runs import RunQuery, RunRecord

_log = logging.getLogger(__name__)

_RETRY_S = 1.0
_DRAIN_TIMEOUT_S = 5.0
"""How long the end of a run is delayed so that its last events are reported first."""
_STREAM_FPS = 60.0


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


class FrameSource:
    """Frames of one run. Thread-safe; a read takes as long as copying one frame."""

    def __init__(self, client: TrainerClient, home: Home | None, run_id: str) -> None:
        """`home` is the home of the daemon if it is on this machine."""
        self._client = client
        self._home = home
        self._run_id = run_id
        self._lock = threading.Lock()
        self._is_closed = False
        self._reader: FrameReader | None = None
        self._stream: _FrameStream | None = None

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        stream = self._stream
        return (stream.thread,) if stream else ()

    def newest(self, after: int = 0) -> Frame | None:
        """Return the newest frame; None if it is still number `after`, the last one returned."""
        with self._lock:
            if self._is_closed:
                return None
            if self._reader is None and self._stream is None:
                self._open_source()
            if self._stream is not None:
                return self._stream.newest(after)
            view = self._reader.newest(after) if self._reader is not None else None
        return Frame(**view._asdict()) if view else None

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._reader is not None:
                self._reader.close()
            if self._stream is not None:
                self._stream.close()

    def _open_source(self) -> None:
        run = self._home.run(self._run_id) if self._home else None
        if run is not None and run.path.is_dir():
            self._reader = FrameReader(run.frames)
        else:
            self._stream = _FrameStream(self._client, self._run_id)


class _FrameStream:
    """Keeps the newest frame that the daemon sent."""

    def __init__(self, client: TrainerClient, run_id: str) -> None:
        self._client = client
        self._run_id = run_id
        self._lock = threading.Lock()
        self._newest: Frame | None = None
        self._last_returned: Frame | None = None
        self._closing = threading.Event()
        self._frames: Stream[Frame] | None = None
        self.thread = threading.Thread(
            target=self._follow, name=f"session-frames-{run_id[-6:]}", daemon=True
        )
        self.thread.start()

    def newest(self, after: int) -> Frame | None:
        frame = self._newest
        if frame is None or (frame is self._last_returned and frame.number == after):
            return None
        self._last_returned = frame
        return frame

    def close(self) -> None:
        with self._lock:
            self._closing.set()
            frames = self._frames
        if frames is not None:
            frames.close()

    def _follow(self) -> None:
        while not self._closing.is_set():
            try:
                self._read()
            except DaemonUnreachableError:
                self._closing.wait(_RETRY_S)
            except UserError as error:
                _log.warning("C211 no frames of run %s: %s", self._run_id, error)
                return
            except Exception:  # noqa: BLE001 - thread boundary: the session continues without frames
                if not self._closing.is_set():
                    _log.exception("C223 frame stream of run %s failed unexpectedly", self._run_id)
                return
            else:
                return

    def _read(self) -> None:
        frames = self._client.frames(self._run_id, max_fps=_STREAM_FPS)
        with self._lock:
            if self._closing.is_set():
                return
            self._frames = frames
        with frames:
            for frame in frames:
                self._newest = frame

"""FrameSource: the newest frame of a run, read from the worker's frame file or streamed.

The frame file is used if the run's directory is on this machine. Otherwise the daemon streams
frames, starting with the first request for one. Owned by `FollowedRun`.
"""

import logging
import threading

from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.results import Frame
from mosaic.client.streams import Stream
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.errors import UserError
from mosaic.contract.frame_file import FrameReader
from mosaic.contract.layout import Home

_log = logging.getLogger(__name__)

_STREAM_FPS = 60.0
_RETRY_S = 1.0


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

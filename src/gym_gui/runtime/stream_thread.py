"""StreamThread: one plain thread per stream, blocking on its iterator, into a mailbox."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from mosaic.client.mailbox import Mailbox
from mosaic.contract.errors import UserError

Item = TypeVar("Item")
Given_co = TypeVar("Given_co", covariant=True)

_log = logging.getLogger(__name__)

_BROKEN = "C301"
"""A stream of the window broke by a bug; the log has the traceback."""


class Closable(Protocol[Given_co]):
    """What `TrainerClient` returns for a stream."""

    def __iter__(self) -> Iterator[Given_co]: ...
    def close(self) -> None: ...


class StreamThread(Generic[Item]):
    """Begins at once. `close` may be called on the UI thread: it does not wait."""

    def __init__(
        self,
        name: str,
        open_stream: Callable[[], Closable[Item]],
        wake: Callable[[], None],
        limit: int | None = None,
    ) -> None:
        """`open_stream` is called on the thread, because opening may wait for the daemon too."""
        self.box: Mailbox[Item] = Mailbox(wake) if limit is None else Mailbox(wake, limit)
        self.error: UserError | None = None
        """Why it ended, if it failed."""
        self.is_finished = False
        self._open = open_stream
        self._wake = wake
        self._lock = threading.Lock()
        self._stream: Closable[Item] | None = None
        self._is_closed = False
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def drain(self) -> list[Item]:
        """What has come since the last time."""
        return self.box.take()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            stream = self._stream
        self.box.close()
        if stream is not None:
            stream.close()

    def _run(self) -> None:
        try:
            stream = self._open()
            with self._lock:
                self._stream = stream
                if self._is_closed:
                    stream.close()
            for item in stream:
                if not self.box.put(item):
                    break
        except UserError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            if not self._is_closed:
                _log.exception("%s a stream of the window broke by a bug", _BROKEN)
                self.error = UserError(
                    f"A stream broke: {type(error).__name__}: {error}.",
                    remedy="Open it again; if it happens again, please report it.",
                    code=_BROKEN,
                )
        finally:
            self.is_finished = True
            self._wake()

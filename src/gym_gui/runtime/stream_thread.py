"""StreamThread: a thread that reads one stream into a mailbox."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from mosaic.client.mailbox import Mailbox
from mosaic.contract.errors import UserError

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)

_log = logging.getLogger(__name__)

_BROKEN = "C301"
"""A stream of the window failed because of a bug; the log has the traceback."""


class ClosableStream(Protocol[Item_co]):
    """A stream of `TrainerClient`."""

    def __iter__(self) -> Iterator[Item_co]: ...
    def close(self) -> None: ...


class StreamThread(Generic[Item]):
    """Starts immediately. `close` does not block."""

    def __init__(
        self,
        name: str,
        open_stream: Callable[[], ClosableStream[Item]],
        wake: Callable[[], None],
        limit: int | None = None,
    ) -> None:
        """`open_stream` is called on the thread, as it may block. `limit` bounds the mailbox."""
        self._mailbox: Mailbox[Item] = Mailbox(wake) if limit is None else Mailbox(wake, limit)
        self.error: UserError | None = None
        """Why the stream failed; None if it has not."""
        self.is_finished = False
        self._open = open_stream
        self._wake = wake
        self._lock = threading.Lock()
        self._stream: ClosableStream[Item] | None = None
        self._is_closed = False
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def drain(self) -> list[Item]:
        """Items received since the last call."""
        return self._mailbox.take()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            stream = self._stream
        self._mailbox.close()
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
                if not self._mailbox.put(item):
                    break
        except UserError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            if not self._is_closed:
                _log.exception("%s a stream of the window failed because of a bug", _BROKEN)
                self.error = UserError(
                    f"A stream failed: {type(error).__name__}: {error}.",
                    remedy="Open it again; report it if it fails again.",
                    code=_BROKEN,
                )
        finally:
            self.is_finished = True
            self._wake()

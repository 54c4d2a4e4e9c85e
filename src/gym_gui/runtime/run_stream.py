"""RunStream: the base of feeds that stream records of one run, on a thread."""

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject

from gym_gui.runtime.stream_thread import ClosableStream, StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

Item = TypeVar("Item")


class RunStream(QObject, Generic[Item]):
    """Subclasses define `open_stream`. UI thread only; close it before the link."""

    def __init__(
        self,
        link: TrainerLink,
        ticker: UiTicker,
        name: str,
        max_batch: int,
        parent: QObject | None = None,
    ) -> None:
        """At most `max_batch` records are buffered; the rest stays in the store."""
        super().__init__(parent)
        self._link = link
        self._ticker = ticker
        self._name = name
        self._max_batch = max_batch
        self._run_id = ""
        self._stream: StreamThread[Item] | None = None
        self._threads: list[threading.Thread] = []
        link.connected.connect(self._start)

    def open_stream(self, client: "TrainerClient", run_id: str) -> ClosableStream[Item]:
        """Open the stream; called on the reading thread."""
        raise NotImplementedError

    def follow(self, run_id: str) -> None:
        """Stream this run from its start; an empty id ends the stream."""
        self.close()
        self._run_id = run_id
        if self._link.has_client:
            self._start()

    def drain(self) -> list[Item]:
        return self._stream.drain() if self._stream else []

    @property
    def is_finished(self) -> bool:
        """The stream has ended."""
        return self._stream is not None and self._stream.is_finished

    @property
    def error(self) -> UserError | None:
        return self._stream.error if self._stream else None

    @property
    def threads(self) -> list[threading.Thread]:
        return [thread for thread in self._threads if thread.is_alive()]

    def close(self) -> None:
        """Does not block."""
        self._run_id = ""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _start(self) -> None:
        if not self._run_id or self._stream is not None:
            return
        client, run_id = self._link.client, self._run_id
        self._stream = StreamThread(
            self._name, lambda: self.open_stream(client, run_id), self._ticker.wake, self._max_batch
        )
        self._threads = [*self.threads, self._stream.thread]

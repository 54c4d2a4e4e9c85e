"""RunStream: one kind of record of one run, from its start and while it runs.

A base of feeds: a subclass says what is read. Of one run at a time, on a thread.
"""

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject

from gym_gui.runtime.stream_thread import Closable, StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

Item = TypeVar("Item")


class RunStream(QObject, Generic[Item]):
    """For the UI thread. Closed before the link is."""

    def __init__(
        self,
        link: TrainerLink,
        ticker: UiTicker,
        name: str,
        max_batch: int,
        parent: QObject | None = None,
    ) -> None:
        """`max_batch` are brought at a time; the rest waits, in the store."""
        super().__init__(parent)
        self._link = link
        self._ticker = ticker
        self._name = name
        self._max_batch = max_batch
        self._run_id = ""
        self._stream: StreamThread[Item] | None = None
        self._threads: list[threading.Thread] = []
        link.connected.connect(self._start)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[Item]:
        """Open the stream; called on the reading thread."""
        raise NotImplementedError

    def show(self, run_id: str) -> None:
        """From its beginning on; an empty id ends it."""
        self.close()
        self._run_id = run_id
        if self._link.has_client:
            self._start()

    def drain(self) -> list[Item]:
        return self._stream.drain() if self._stream else []

    @property
    def is_finished(self) -> bool:
        """Nothing more comes."""
        return self._stream is not None and self._stream.is_finished

    @property
    def error(self) -> UserError | None:
        return self._stream.error if self._stream else None

    @property
    def threads(self) -> list[threading.Thread]:
        return [thread for thread in self._threads if thread.is_alive()]

    def close(self) -> None:
        """Does not wait."""
        self._run_id = ""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _start(self) -> None:
        if not self._run_id or self._stream is not None:
            return
        client, run_id = self._link.client, self._run_id
        self._stream = StreamThread(
            self._name, lambda: self.read(client, run_id), self._ticker.wake, self._max_batch
        )
        self._threads = [*self.threads, self._stream.thread]

"""TrainerLink: the connection to the daemon, which is found or started in the background.

A lost connection is restored automatically, and streams resume at their cursors.
"""

import logging
import threading
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import DaemonHealth

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["LinkState", "TrainerClient", "TrainerLink"]

_log = logging.getLogger(__name__)
_POLL_S = 2.0
_RECONNECT_POLL_S = 0.3
_HEALTH_TIMEOUT_S = 5.0


class LinkState(StrEnum):
    CONNECTING = "connecting"
    """No daemon has answered yet."""
    READY = "ready"
    LOST = "lost"
    """The daemon stopped answering."""
    FAILED = "failed"
    """No daemon could be reached or started; `problem` has the reason."""
    CLOSED = "closed"


class TrainerLink(QObject):
    """Created once, by the wiring. UI thread only."""

    changed = Signal()
    """`state`, `problem` or `health` changed."""
    connected = Signal()
    """Emitted once: `client` is available from now on."""
    recovered = Signal()
    """A lost daemon answers again, or another one has replaced it."""
    _reported = Signal(object, object, object)

    def __init__(self, home: Home, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.home = home
        self.state = LinkState.CONNECTING
        self.problem: UserError | None = None
        self.health: DaemonHealth | None = None
        self._client: TrainerClient | None = None
        self._start_requested = threading.Event()
        self._poll_requested = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trainer link", daemon=True)
        self._reported.connect(self._apply_report, Qt.ConnectionType.QueuedConnection)

    def open(self, *, start: bool = True) -> None:
        """Start connecting; with `start`, start a daemon if none answers."""
        if start:
            self._start_requested.set()
        self._thread.start()

    @property
    def client(self) -> "TrainerClient":
        """Available after `connected`; never replaced."""
        if self._client is None:
            raise RuntimeError("there is no connection yet")
        return self._client

    @property
    def has_client(self) -> bool:
        return self._client is not None

    @property
    def is_ready(self) -> bool:
        return self.state is LinkState.READY

    def start_daemon(self) -> None:
        """Start a daemon if none answers."""
        self._start_requested.set()
        self._poll_requested.set()

    def close(self) -> None:
        """End all calls and streams. The daemon and its runs continue."""
        self.state = LinkState.CLOSED
        self._closing.set()
        self._poll_requested.set()
        if self._client is not None:
            self._client.close()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether the thread has ended."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """On the thread."""
        client: TrainerClient | None = None
        while not self._closing.is_set():
            try:
                client, health = self._poll(client)
            except UserError as error:
                is_lost = client is not None and isinstance(error, DaemonUnreachableError)
                self._reported.emit(LinkState.LOST if is_lost else LinkState.FAILED, None, error)
                pause_s = _RECONNECT_POLL_S if is_lost else _POLL_S
            except Exception:  # noqa: BLE001 - the edge of the thread
                if self._closing.is_set():
                    break
                _log.exception("C302 connecting to the daemon failed because of a bug")
                pause_s = _POLL_S
            else:
                self._reported.emit(LinkState.READY, client, health)
                pause_s = _POLL_S
            self._poll_requested.wait(pause_s)
            self._poll_requested.clear()
        if client is not None:
            client.close()

    def _poll(self, client: "TrainerClient | None") -> "tuple[TrainerClient, DaemonHealth]":
        # gRPC is slow to import: done here, on the thread, after the window is shown.
        from mosaic.client import daemon_process, trainer_client  # noqa: PLC0415
        from mosaic.client.sessions import session_controller  # noqa: PLC0415, F401
        from mosaic.replay import episode_replay  # noqa: PLC0415, F401

        is_first = client is None
        if client is None:
            start = self._start_requested.is_set()
            self._start_requested.clear()
            client = trainer_client.TrainerClient.connect(
                self.home, start=start, reconnect_timeout_s=None
            )
        elif self._start_requested.is_set():
            self._start_requested.clear()
            daemon_process.start_daemon(self.home)
        try:
            return client, client.health(timeout_s=_HEALTH_TIMEOUT_S)
        except UserError:
            if is_first:  # not published yet
                client.close()
            raise

    @Slot(object, object, object)
    def _apply_report(
        self, state: LinkState, client: "TrainerClient | None", report: object
    ) -> None:
        if self.state is LinkState.CLOSED:
            if client is not None:
                client.close()
            return
        before = (self.state, self.health, str(self.problem))
        previous, self.state = self.state, state
        is_another = _is_another_daemon(self.health, report)
        self.health = report if isinstance(report, DaemonHealth) else self.health
        self.problem = report if isinstance(report, UserError) else None
        if client is not None and self._client is None:
            self._client = client
            self.connected.emit()
        if (self.state, self.health, str(self.problem)) != before:
            self.changed.emit()
        if state is LinkState.READY and (previous is LinkState.LOST or is_another):
            self.recovered.emit()


def _is_another_daemon(before: DaemonHealth | None, report: object) -> bool:
    """Whether the daemon was restarted between two polls."""
    return (
        before is not None
        and isinstance(report, DaemonHealth)
        and (report.pid, report.started_at) != (before.pid, before.started_at)
    )


def restart_daemon(home: Home) -> None:
    """Restart the daemon, for settings that it reads at start. Blocks until the new one answers."""
    from mosaic.client import daemon_process  # noqa: PLC0415 - brings gRPC

    daemon_process.stop_daemon(home)
    daemon_process.start_daemon(home)

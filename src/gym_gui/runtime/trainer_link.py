"""TrainerLink: the connection to the daemon, found or started in the background, and kept.

The window is there first; this says how far the connection is. A daemon that goes away is looked
for until it is back, and streams go on where they were, because they wait for it too.
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

_log = logging.getLogger(__name__)
_POLL_S = 2.0
_RECONNECT_POLL_S = 0.3
_HEALTH_TIMEOUT_S = 5.0


class LinkState(StrEnum):
    LOOKING = "looking"
    """No daemon has answered yet; one is looked for, or started."""
    READY = "ready"
    LOST = "lost"
    """It answered before, and does not now."""
    FAILED = "failed"
    """None could be reached or started; `problem` says why, and `retry` tries again."""
    CLOSED = "closed"


class TrainerLink(QObject):
    """Made once, by the wiring; all of it is for the UI thread."""

    changed = Signal()
    """`state`, `problem` or `health` is new."""
    connected = Signal()
    """For the first time: `client` is there from now on."""
    recovered = Signal()
    """A lost daemon answers again."""
    _reported = Signal(object, object, object)

    def __init__(self, home: Home, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.home = home
        self.state = LinkState.LOOKING
        self.problem: UserError | None = None
        self.health: DaemonHealth | None = None
        self._client: TrainerClient | None = None
        self._wants_start = threading.Event()
        self._nudge = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trainer link", daemon=True)
        self._reported.connect(self._apply_report, Qt.ConnectionType.QueuedConnection)

    def open(self, *, start: bool = True) -> None:
        """Begin to look; with `start` a daemon is started when none answers."""
        if start:
            self._wants_start.set()
        self._thread.start()

    @property
    def client(self) -> "TrainerClient":
        """To be asked for once `connected` was emitted; it stays the same from then on."""
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
        """Start one when none answers: for a button beside "lost" and "failed"."""
        self._wants_start.set()
        self._nudge.set()

    def close(self) -> None:
        """End all calls and streams. The daemon and its runs go on."""
        self.state = LinkState.CLOSED
        self._closing.set()
        self._nudge.set()
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
                _log.exception("C302 looking for the daemon failed by a bug")
                pause_s = _POLL_S
            else:
                self._reported.emit(LinkState.READY, client, health)
                pause_s = _POLL_S
            self._nudge.wait(pause_s)
            self._nudge.clear()
        if client is not None:
            client.close()

    def _poll(self, client: "TrainerClient | None") -> "tuple[TrainerClient, DaemonHealth]":
        # gRPC and all that needs it are imported here, once the window is there, so that neither it
        # nor whoever uses them on the UI thread waits for that.
        from mosaic.client import daemon_process, trainer_client  # noqa: PLC0415
        from mosaic.client.sessions import session_controller  # noqa: PLC0415, F401
        from mosaic.replay import episode_replay  # noqa: PLC0415, F401

        is_first = client is None
        if client is None:
            may_start = self._wants_start.is_set()
            self._wants_start.clear()
            client = trainer_client.TrainerClient.connect(
                self.home, start=may_start, reconnect_timeout_s=None
            )
        elif self._wants_start.is_set():
            self._wants_start.clear()
            daemon_process.start_daemon(self.home)
        try:
            return client, client.health(timeout_s=_HEALTH_TIMEOUT_S)
        except UserError:
            if is_first:  # nobody else has it
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
        was, self.state = self.state, state
        is_another = _is_another_daemon(self.health, report)
        self.health = report if isinstance(report, DaemonHealth) else self.health
        self.problem = report if isinstance(report, UserError) else None
        if client is not None and self._client is None:
            self._client = client
            self.connected.emit()
        if (self.state, self.health, str(self.problem)) != before:
            self.changed.emit()
        if state is LinkState.READY and (was is LinkState.LOST or is_another):
            self.recovered.emit()


def _is_another_daemon(before: DaemonHealth | None, report: object) -> bool:
    """A daemon may have gone and come back between two looks."""
    return (
        before is not None
        and isinstance(report, DaemonHealth)
        and (report.pid, report.started_at) != (before.pid, before.started_at)
    )

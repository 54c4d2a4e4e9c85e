"""TensorBoardServers: the TensorBoard processes of this window. They stop when it closes."""

import time
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.analytics.tensorboard_program import TensorBoardProgram, find_tensorboard
from mosaic.analytics.tensorboard_server import ServerState, TensorBoardServer

__all__ = [
    "ServerState",
    "TensorBoardProgram",
    "TensorBoardServer",
    "TensorBoardServers",
    "find_tensorboard",
]


class TensorBoardServers(QObject):
    """Created by `TensorBoardModel`. Stopped servers are not listed; failed ones are."""

    changed = Signal()
    """The list or a state changed; at most once per tick."""

    def __init__(self, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ticker = ticker
        self._servers: list[TensorBoardServer] = []
        self._stopping: list[TensorBoardServer] = []
        self._published: tuple[tuple[TensorBoardServer, ServerState, int], ...] = ()
        ticker.subscribe(self, self._on_tick)

    @property
    def servers(self) -> tuple[TensorBoardServer, ...]:
        """In start order."""
        return tuple(self._servers)

    def find(self, folders: Mapping[str, Path]) -> TensorBoardServer | None:
        """The server of exactly these folders, running or failed."""
        requested = set(folders.values())
        alive = (server for server in self._servers if server.shows(folders))
        failed = (
            server
            for server in reversed(self._servers)
            if not server.is_alive and set(server.folders.values()) == requested
        )
        return next(alive, None) or next(failed, None)

    def open(self, program: TensorBoardProgram, folders: Mapping[str, Path]) -> TensorBoardServer:
        """The server of these folders; started if there is none."""
        existing = self.find(folders)
        if existing is not None and existing.is_alive:
            return existing
        server = TensorBoardServer(program, folders, self._ticker.wake)
        if existing is None:
            self._servers.append(server)
        else:
            self._servers[self._servers.index(existing)] = server
        self._publish()
        return server

    def stop(self, server: TensorBoardServer) -> None:
        """A failed server is only removed from the list."""
        if server in self._servers:
            server.stop()
            self._servers.remove(server)
            self._stopping.append(server)
            self._publish()

    def close(self) -> None:
        """Stop all without waiting."""
        for server in self._servers:
            server.stop()
        self._stopping += self._servers
        self._servers = []

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all have stopped. Servers that do not stop are killed."""
        deadline = time.monotonic() + timeout_s
        for server in self._stopping:
            server.join(max(0.0, deadline - time.monotonic()))
        return all(server.join(0.0) for server in self._stopping)

    def _on_tick(self) -> bool:
        self._stopping = [server for server in self._stopping if server.is_alive]
        self._servers = [
            server for server in self._servers if server.state is not ServerState.STOPPED
        ]
        is_starting = any(server.state is ServerState.STARTING for server in self._servers)
        if self._snapshot() != self._published:
            self._publish()
        return is_starting  # the elapsed seconds are displayed

    def _snapshot(self) -> tuple[tuple[TensorBoardServer, ServerState, int], ...]:
        now = time.time()
        return tuple(
            (server, server.state, int(now - server.started_at) if _is_starting(server) else 0)
            for server in self._servers
        )

    def _publish(self) -> None:
        self._published = self._snapshot()
        self.changed.emit()


def _is_starting(server: TensorBoardServer) -> bool:
    return server.state is ServerState.STARTING

"""TensorBoardServers: the TensorBoards that this window has started, and their end with it."""

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
    """Made by `TensorBoardModel`. Those that were stopped are no longer listed; failures stay."""

    changed = Signal()
    """Which there are, or their states; at most once a beat."""

    def __init__(self, pulse: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pulse = pulse
        self._servers: list[TensorBoardServer] = []
        self._ending: list[TensorBoardServer] = []
        self._told: tuple[tuple[TensorBoardServer, ServerState, int], ...] = ()
        pulse.subscribe(self, self._on_beat)

    @property
    def servers(self) -> tuple[TensorBoardServer, ...]:
        """In the order of their starts."""
        return tuple(self._servers)

    def find(self, folders: Mapping[str, Path]) -> TensorBoardServer | None:
        """The one that shows just these, or the failure to."""
        wanted = set(folders.values())
        alive = (server for server in self._servers if server.shows(folders))
        failed = (
            server
            for server in reversed(self._servers)
            if not server.is_alive and set(server.folders.values()) == wanted
        )
        return next(alive, None) or next(failed, None)

    def open(self, program: TensorBoardProgram, folders: Mapping[str, Path]) -> TensorBoardServer:
        """The one that shows these folders; it is started unless there is one."""
        there = self.find(folders)
        if there is not None and there.is_alive:
            return there
        server = TensorBoardServer(program, folders, self._pulse.wake)
        if there is None:
            self._servers.append(server)
        else:
            self._servers[self._servers.index(there)] = server
        self._tell()
        return server

    def stop(self, server: TensorBoardServer) -> None:
        """A failed one is only forgotten."""
        if server in self._servers:
            server.stop()
            self._servers.remove(server)
            self._ending.append(server)
            self._tell()

    def close(self) -> None:
        """Let all end; does not wait."""
        for server in self._servers:
            server.stop()
        self._ending += self._servers
        self._servers = []

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all have ended. Those that do not are killed."""
        deadline = time.monotonic() + timeout_s
        for server in self._ending:
            server.join(max(0.0, deadline - time.monotonic()))
        return all(server.join(0.0) for server in self._ending)

    def _on_beat(self) -> bool:
        self._ending = [server for server in self._ending if server.is_alive]
        self._servers = [each for each in self._servers if each.state is not ServerState.STOPPED]
        is_starting = any(each.state is ServerState.STARTING for each in self._servers)
        if self._facts() != self._told:
            self._tell()
        return is_starting  # the seconds that it takes are shown

    def _facts(self) -> tuple[tuple[TensorBoardServer, ServerState, int], ...]:
        now = time.time()
        return tuple(
            (each, each.state, int(now - each.started_at) if _is_starting(each) else 0)
            for each in self._servers
        )

    def _tell(self) -> None:
        self._told = self._facts()
        self.changed.emit()


def _is_starting(server: TensorBoardServer) -> bool:
    return server.state is ServerState.STARTING

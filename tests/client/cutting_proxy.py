"""A proxy of the daemon that can close a connection before its answer arrives."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress


class CuttingProxy:
    """Forwards bytes in both directions.

    After `cut_answers`, a connection is closed instead of forwarding an answer as soon as `is_done`
    returns True: the daemon has handled the call.
    """

    def __init__(self, address: str) -> None:
        self._target = address.removeprefix("unix:")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_done: Callable[[], bool] | None = None
        self._open: list[socket.socket] = []
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def cut_answers(self, is_done: Callable[[], bool]) -> None:
        self._is_done = is_done

    def close(self) -> None:
        _close(self._listener)
        for connection in self._open:
            _close(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._open += (client, server)
                threading.Thread(
                    target=self._forward_requests, args=(client, server), daemon=True
                ).start()
                threading.Thread(
                    target=self._forward_answers, args=(server, client), daemon=True
                ).start()

    def _forward_requests(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(65536):
                target.sendall(chunk)
        _close(target)

    def _forward_answers(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(65536):
                is_done = self._is_done
                if is_done is not None and is_done():
                    self._is_done = None
                    self.cuts += 1
                    break
                target.sendall(chunk)
        _close(target)
        _close(source)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()

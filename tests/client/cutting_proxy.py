"""A door to the daemon that can be slammed at the worst moment."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress


class CuttingProxy:
    """Passes bytes both ways. After `cut_answers`, the next connection's answers are held back,
    and it is cut as soon as `is_done` says that the daemon has done what it was asked."""

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
        _slam(self._listener)
        for connection in self._open:
            _slam(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._open += (client, server)
                threading.Thread(target=self._pass, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                target.sendall(part)
        _slam(target)

    def _answer(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                is_done = self._is_done
                if is_done is not None and is_done():
                    self._is_done = None
                    self.cuts += 1
                    break
                target.sendall(part)
        _slam(target)
        _slam(source)


def _slam(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()

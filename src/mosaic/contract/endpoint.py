"""`endpoint.json`: the address of a home's daemon. Written by the daemon, read by clients."""

import os
from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders


class Endpoint(msgspec.Struct, kw_only=True, frozen=True):
    """Address and process of the daemon."""

    address: str
    """Such as `127.0.0.1:50055`, or `unix:` with the socket's path relative to the home."""
    pid: int
    start_ticks: int
    boot_id: str
    version: str
    started_at: float
    certificate: str | None = None
    """PEM file that clients must trust; None: no TLS, loopback only."""

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the file; None when it does not exist."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise UserError(
                f"{path} cannot be read: {error}.",
                remedy="Stop the daemon (`mosaic daemon stop`), remove the file and start again.",
                code="C151",
            ) from error

    def write(self, path: Path) -> None:
        write_atomically(path, msgspec.json.encode(self))


SOCKET_SCHEME = "unix:"
"""Prefix of an address that is the path of a Unix domain socket."""


class SocketFolder:
    """An open folder whose sockets have a short address, whatever the path of the folder.

    The path of a Unix domain socket has at most 107 bytes, and gRPC accepts UTF-8 only. The
    addresses are valid in this process while the folder is open.
    """

    def __init__(self, path: Path) -> None:
        """Raises `OSError`."""
        self._descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def socket_path(self, name: str) -> str:
        return f"/proc/self/fd/{self._descriptor}/{name}"

    def grpc_address(self, name: str) -> str:
        return SOCKET_SCHEME + self.socket_path(name)

    @property
    def status(self) -> os.stat_result:
        return os.fstat(self._descriptor)

    def close(self) -> None:
        """Safe to call twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


prebuild_decoders(Endpoint)

"""Verifies the process that listens at the daemon's address, before the token is sent to it.

After a crash or a reboot another user can listen on the daemon's port, or create its socket.
"""

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

import grpc

from mosaic.client.errors import DaemonUnreachableError, UntrustedEndpointError
from mosaic.client.rpc_errors import UNREACHABLE_REMEDY
from mosaic.contract.endpoint import SOCKET_SCHEME, Endpoint, SocketFolder
from mosaic.contract.process_identity import ProcessIdentity, user_of

_CONNECT_TIMEOUT_S = 5.0
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid
_WRITABLE_BY_OTHERS = 0o022


@dataclass(frozen=True, slots=True)
class DaemonIdentity:
    """The process that must listen, and the user that it runs as."""

    owner: int
    """User id."""
    process: ProcessIdentity | None = None
    """None: not known."""

    @classmethod
    def of(cls, endpoint: Endpoint, owner: int) -> "DaemonIdentity":
        return cls(owner, ProcessIdentity(endpoint.pid, endpoint.start_ticks, endpoint.boot_id))

    def is_daemon(self) -> bool:
        """Whether the process is running as the expected user."""
        return self.is_running() and (
            self.process is None or user_of(self.process.pid) == self.owner
        )

    def is_running(self) -> bool:
        """False after a reboot, and for another process with the same pid.

        Enough for each call after `is_daemon`: it is the same process.
        """
        return self.process is None or self.process.is_alive()


class SocketChannel:
    """A gRPC channel to a Unix domain socket whose listener was verified.

    It stays safe when it reconnects: only the owner of the folder can replace the socket.
    """

    def __init__(
        self,
        address: str,
        identity: DaemonIdentity,
        options: tuple[tuple[str, int], ...],
    ) -> None:
        path = Path(address.removeprefix(SOCKET_SCHEME))
        try:
            self._folder = SocketFolder(path.parent)
        except OSError as error:
            raise _unreachable(address) from error
        try:
            self._verify(path, identity)
            self.channel = grpc.insecure_channel(
                self._folder.grpc_address(path.name), options=options
            )
        except BaseException:
            self._folder.close()
            raise

    def close(self) -> None:
        self.channel.close()
        self._folder.close()

    def _verify(self, path: Path, identity: DaemonIdentity) -> None:
        if self._folder.status.st_mode & _WRITABLE_BY_OTHERS:
            raise UntrustedEndpointError(
                f"Other users can replace the socket {path}: they can write to its folder.",
                remedy=f"Run `chmod go-w {path.parent}`.",
            )
        pid, owner = self._listener(path)
        expected_pid = pid if identity.process is None else identity.process.pid
        if (pid, owner) != (expected_pid, identity.owner):
            raise UntrustedEndpointError(
                f"The socket {path} belongs to process {pid} of user {owner}, not to the daemon.",
                remedy="Run `mosaic daemon stop`, then `mosaic daemon start`.",
            )

    def _listener(self, path: Path) -> tuple[int, int]:
        """Process and user that called `listen`, as recorded by the kernel."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_CONNECT_TIMEOUT_S)
            try:
                probe.connect(self._folder.socket_path(path.name))
                sent = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            except OSError as error:
                raise _unreachable(f"{SOCKET_SCHEME}{path}") from error
        pid, owner, _ = _CREDENTIALS.unpack(sent)
        return pid, owner


def _unreachable(address: str) -> DaemonUnreachableError:
    return DaemonUnreachableError(
        f"No trainer daemon answers at {address}.", remedy=UNREACHABLE_REMEDY
    )

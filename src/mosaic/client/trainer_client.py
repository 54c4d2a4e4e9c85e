"""TrainerClient: the Python API of the trainer daemon, for notebooks, command line and window."""

import os
from typing import Self

from mosaic.client.api_base import DEFAULT_RECONNECT_TIMEOUT_S, ApiBase
from mosaic.client.connection import Connection
from mosaic.client.daemon_address import (
    ConnectionTarget,
    FixedAddress,
    HomeAddress,
    check_transport_security,
)
from mosaic.client.daemon_api import DaemonApi
from mosaic.client.daemon_process import start_daemon
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.former_names import FormerClientNames, accept_former_keywords
from mosaic.client.resimulation import ResimulationApi
from mosaic.client.run_api import RunApi
from mosaic.client.run_query_api import RunQueryApi
from mosaic.client.storage_api import StorageApi
from mosaic.client.telemetry_api import TelemetryApi
from mosaic.client.worker_api import WorkerApi
from mosaic.contract.layout import Home


class TrainerClient(
    RunApi,
    RunQueryApi,
    TelemetryApi,
    ResimulationApi,
    WorkerApi,
    StorageApi,
    DaemonApi,
    FormerClientNames,
):
    """A client of one daemon. Synchronous and thread-safe; close it, or use `with`.

        from mosaic.client import TrainerClient

        with TrainerClient.connect(start=True) as client:
            run = client.submit({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})
            for seq, step in client.steps(run.run_id, follow=True):
                print(step.step, step.reward)
            print(client.wait(run.run_id).reason)

    Failures raise `mosaic.client.errors.TrainerError` with `message`, `remedy`, `code` and
    `status`; `DaemonUnreachableError` if no daemon answers.
    """

    @accept_former_keywords(patience_s="reconnect_timeout_s")
    def __init__(
        self,
        address: str,
        token: str,
        certificate: bytes | None = None,
        *,
        reconnect_timeout_s: float | None = DEFAULT_RECONNECT_TIMEOUT_S,
    ) -> None:
        """Connect to a daemon at a known address, such as `127.0.0.1:50055`.

        `certificate` is the daemon's certificate (PEM); without one only an address on this
        machine is allowed. `reconnect_timeout_s` is how long streams wait for a daemon that went
        away; None: forever. `connect` reads address, token and certificate from a home.
        """
        target = ConnectionTarget(address, token, certificate)
        check_transport_security(target)
        super().__init__(Connection(FixedAddress(target)), reconnect_timeout_s)

    @classmethod
    @accept_former_keywords(patience_s="reconnect_timeout_s")
    def connect(
        cls,
        home: str | os.PathLike[str] | Home | None = None,
        *,
        start: bool = False,
        timeout_s: float = 10.0,
        reconnect_timeout_s: float | None = DEFAULT_RECONNECT_TIMEOUT_S,
    ) -> Self:
        """Connect to the daemon of `home`, else $MOSAIC_HOME, else `var` in the current folder.

        With `start`, start a daemon in the background if none answers; otherwise raise
        `DaemonUnreachableError`.
        """
        located = home if isinstance(home, Home) else Home.locate(home)
        connection = Connection(HomeAddress(located))
        try:
            _check_connection(connection, located, start, timeout_s)
        except BaseException:
            connection.close()
            raise
        client = cls.__new__(cls)
        ApiBase.__init__(client, connection, reconnect_timeout_s)
        return client

    @property
    def home(self) -> Home | None:
        """The home that was passed to `connect`; None for a client with an address."""
        resolver = self._connection.resolver
        return resolver.home if isinstance(resolver, HomeAddress) else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all streams and the connection."""
        self._connection.close()


def _check_connection(connection: Connection, home: Home, start: bool, timeout_s: float) -> None:
    daemon = DaemonApi(connection, reconnect_timeout_s=0.0)
    try:
        daemon.health(timeout_s=timeout_s)
    except DaemonUnreachableError:
        if not start:
            raise
        start_daemon(home)
        daemon.health(timeout_s=timeout_s)

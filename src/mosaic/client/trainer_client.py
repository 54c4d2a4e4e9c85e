"""TrainerClient: everything the trainer daemon can do, from Python. For notebooks, CLI and GUI."""

import os
from typing import Self

from mosaic.client.call_group import DEFAULT_PATIENCE_S, CallGroup
from mosaic.client.connection import Connection
from mosaic.client.daemon_address import GivenAddress, HomeAddress, Target, check_safe
from mosaic.client.daemon_calls import DaemonCalls
from mosaic.client.daemon_process import start_daemon
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.picture_calls import PictureCalls
from mosaic.client.resimulation import ResimulationCalls
from mosaic.client.run_calls import RunCalls
from mosaic.client.run_queries import RunQueries
from mosaic.client.settings_calls import SettingsCalls
from mosaic.client.storage_calls import StorageCalls
from mosaic.client.telemetry_calls import TelemetryCalls
from mosaic.client.worker_calls import WorkerCalls
from mosaic.contract.layout import Home


class TrainerClient(
    RunCalls,
    RunQueries,
    TelemetryCalls,
    ResimulationCalls,
    PictureCalls,
    WorkerCalls,
    StorageCalls,
    SettingsCalls,
    DaemonCalls,
):
    """Speaks to one daemon. Synchronous; any thread may use it; close it, or use `with`.

        from mosaic.client import TrainerClient

        with TrainerClient.connect(start=True) as client:
            run = client.submit({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})
            for seq, step in client.steps(run.run_id, follow=True):
                print(step.step, step.reward)
            print(client.wait(run.run_id).reason)

    What goes wrong is a `mosaic.client.errors.TrainerError` with `message`, `remedy`, `code` and
    `status`; `DaemonUnreachableError` when no daemon answers.
    """

    def __init__(
        self,
        address: str,
        token: str,
        certificate: bytes | None = None,
        *,
        patience_s: float | None = DEFAULT_PATIENCE_S,
    ) -> None:
        """A daemon at a known address, such as `127.0.0.1:50055`.

        `certificate` is the PEM that the daemon must show; without one only an address on this
        machine is allowed. `patience_s` is how long streams wait for a daemon that has gone, None
        being for ever. `connect` finds address, token and certificate by itself.
        """
        target = Target(address, token, certificate)
        check_safe(target)
        super().__init__(Connection(GivenAddress(target)), patience_s)

    @classmethod
    def connect(
        cls,
        home: str | os.PathLike[str] | Home | None = None,
        *,
        start: bool = False,
        timeout_s: float = 10.0,
        patience_s: float | None = DEFAULT_PATIENCE_S,
    ) -> Self:
        """The daemon of a home: of `home`, else $MOSAIC_HOME, else `var` in the current folder.

        With `start` a daemon is started in the background when none answers. Raises
        `DaemonUnreachableError` otherwise.
        """
        located = home if isinstance(home, Home) else Home.locate(home)
        connection = Connection(HomeAddress(located))
        try:
            _reach(connection, located, start, timeout_s)
        except BaseException:
            connection.close()
            raise
        client = cls.__new__(cls)
        CallGroup.__init__(client, connection, patience_s)
        return client

    @property
    def home(self) -> Home | None:
        """The home on this machine that the client was connected by."""
        whereabouts = self._connection.whereabouts
        return whereabouts.home if isinstance(whereabouts, HomeAddress) else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all streams and the connection."""
        self._connection.close()


def _reach(connection: Connection, home: Home, start: bool, timeout_s: float) -> None:
    daemon = DaemonCalls(connection, patience_s=0.0)
    try:
        daemon.health(timeout_s=timeout_s)
    except DaemonUnreachableError:
        if not start:
            raise
        start_daemon(home)
        daemon.health(timeout_s=timeout_s)

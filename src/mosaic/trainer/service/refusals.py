"""What the service itself refuses; `error_mapping.py` gives each its gRPC code."""

from mosaic.contract.errors import UserError


class WrongTokenError(UserError):
    """A call came without the token of the home."""

    def __init__(self) -> None:
        super().__init__(
            "The call does not carry the token of this daemon's home.",
            remedy="Send `authorization: Bearer …` with the content of trainer/token in that home;"
            " check --home and MOSAIC_HOME.",
            code="T376",
        )


class DaemonStoppingError(UserError):
    """The daemon goes while a stream is open."""

    def __init__(self) -> None:
        super().__init__(
            "The daemon is stopping. Runs go on without it.",
            remedy="Start it again with `mosaic daemon start`; the stream goes on where it was.",
            code="T375",
        )


class RunDeletedError(UserError):
    """A run went while somebody read it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} was deleted while it was being read.",
            remedy="`mosaic runs list` shows the runs there are.",
            code="T377",
        )


class NoSuchEpisodeError(UserError):
    """The run has not begun this episode."""

    def __init__(self, run_id: str, episode: int) -> None:
        super().__init__(
            f"Run {run_id} has no episode {episode}.",
            remedy=f"`mosaic telemetry {run_id} episodes` shows those that are stored.",
            code="T378",
        )


class NotInstalledError(UserError):
    """What a worker needs to run is not there yet."""

    def __init__(self, worker: str, bundle: str) -> None:
        super().__init__(
            f"{worker} cannot be tried out: its bundle '{bundle}' is not installed.",
            remedy=f"Run `mosaic bundles install {bundle}`, then try again.",
            code="T379",
        )


class InterruptedTransferError(UserError):
    """What a client sends stopped coming before its end."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"What was to be imported did not arrive: {reason}.",
            remedy="Nothing of it was kept. Import it again.",
            code="T380",
        )


class UnsafeFileError(UserError):
    """A file of a run's directory is not what the daemon would have made there."""

    def __init__(self, run_id: str, name: str) -> None:
        super().__init__(
            f"{name} of run {run_id} is not read, because it is no ordinary file.",
            remedy="Something replaced it, perhaps by a link; remove it from the run's directory.",
            code="T371",
        )

"""Why an episode cannot be played again, or why its replay broke off."""

from collections.abc import Sequence

from mosaic.contract.errors import UserError

BUNDLE_MISSING = "T411"
"""A replay needs a bundle that is not installed; by this code a client knows that it may offer to
install it."""
ENVIRONMENT_FAILED = "T413"
"""The environment of a replay cannot be made, or raised an error."""
TELEMETRY_REMAINS = "Its telemetry can still be looked at."


class NotReplayableError(UserError):
    """What was recorded of the episode is not enough."""

    def __init__(self, episode: int, reason: str) -> None:
        super().__init__(
            f"Episode {episode} cannot be replayed: {reason}",
            remedy=TELEMETRY_REMAINS,
            code="T410",
        )


class BundleMissingError(UserError):
    """Neither the environment that the run had nor the one that it would have now is there."""

    def __init__(self, name: str, extras: Sequence[str]) -> None:
        options = "".join(f" --extra {extra}" for extra in extras)
        super().__init__(
            f"The episode cannot be replayed: the bundle {name} is not installed.",
            remedy=f"Run `mosaic bundles install {name}{options}`, then replay it again.",
            code=BUNDLE_MISSING,
        )


class TooManySimulationsError(UserError):
    """Each one takes a processor and a few hundred megabytes."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} replays are open already, which is as many as there can be at once.",
            remedy="Close one of them, then try again.",
            code="T412",
        )


class SimulationFailedError(UserError):
    """The environment, or what makes it, said why it does not go on."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy=remedy or TELEMETRY_REMAINS, code=ENVIRONMENT_FAILED)


class SimulationCrashedError(UserError):
    """The helper process is gone, and was not told to go."""

    def __init__(self, how: str, when: str, said: str) -> None:
        last_words = f" It last said: {said}" if said else ""
        super().__init__(
            f"The replay broke off: {how} {when}.{last_words}",
            remedy=f"{TELEMETRY_REMAINS} Open the replay again to try once more.",
            code="T414",
        )


class SimulationHangsError(UserError):
    """The helper process does not answer."""

    def __init__(self, silent_s: float, when: str, said: str) -> None:
        last_words = f" It last said: {said}" if said else ""
        super().__init__(
            f"The replay was ended: nothing came for {silent_s:.0f} s {when}.{last_words}",
            remedy=f"{TELEMETRY_REMAINS} Open the replay again to try once more.",
            code="T415",
        )


class SimulationNotStartedError(UserError):
    """No process can be started, or no file be written for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The replay could not be started: {reason}.",
            remedy="Free what is missing (memory, processes, disk space) and try again.",
            code="T416",
        )

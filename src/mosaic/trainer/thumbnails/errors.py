"""Why there is no picture of an environment. Each failure is of one environment only."""

from collections.abc import Sequence

from mosaic.contract.errors import UserError

PACKAGES_MISSING = "T470"
"""The packages of an environment are not installed, so there is no picture of it; by this code a
client knows that it may offer to install the bundle."""
ENVIRONMENT_FAILED = "T471"
"""There is no picture of an environment that cannot be made or reset, or is not known."""
_PLAYED_ALL_THE_SAME = "Playing it does not depend on the picture."


class PackagesMissingError(UserError):
    """The bundle that environments are played in is not installed, or lacks an extra."""

    def __init__(self, env_id: str, bundle: str, extras: Sequence[str]) -> None:
        options = "".join(f" --extra {extra}" for extra in extras)
        super().__init__(
            f"There is no picture of {env_id}: its packages are not installed.",
            remedy=f"Run `mosaic bundles install {bundle}{options}`.",
            code=PACKAGES_MISSING,
        )


class EnvironmentFailedError(UserError):
    """The environment cannot be made or reset, and said why."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy=remedy or _PLAYED_ALL_THE_SAME, code=ENVIRONMENT_FAILED)


class NothingDrawnError(UserError):
    """The environment is fine, but has no picture."""

    def __init__(self, env_id: str, problem: str) -> None:
        super().__init__(
            f"There is no picture of {env_id}: {problem}", remedy=_PLAYED_ALL_THE_SAME, code="T472"
        )


class PainterCrashedError(UserError):
    """The process that draws is gone."""

    def __init__(self, env_id: str, how: str, said: str) -> None:
        last_words = f" It last said: {said}" if said else ""
        super().__init__(
            f"{env_id} crashed while its picture was drawn: {how}.{last_words}",
            remedy="The daemon's log says more. Other environments are not affected.",
            code="T473",
        )


class PainterHangsError(UserError):
    """The process that draws does not answer."""

    def __init__(self, env_id: str, silent_s: float) -> None:
        super().__init__(
            f"{env_id} was not drawn within {silent_s:.0f} s.",
            remedy="Try again when the machine is less busy; it may also hang when it is played.",
            code="T474",
        )


class PainterNotStartedError(UserError):
    """No process can be started, or no file be written for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"No picture could be drawn: {reason}.",
            remedy="Free what is missing (memory, processes, disk space) and try again.",
            code="T475",
        )

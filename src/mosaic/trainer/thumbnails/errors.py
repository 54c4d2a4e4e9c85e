"""Errors of thumbnails. Each concerns one environment only."""

from collections.abc import Sequence

from mosaic.contract.errors import UserError

PACKAGES_MISSING = "T470"
"""The packages of an environment are not installed, so it has no thumbnail. Clients offer to
install the bundle for this code."""
ENVIRONMENT_FAILED = "T471"
"""There is no thumbnail of an environment that cannot be created or reset, or is unknown."""
_STILL_PLAYABLE = "Playing it does not depend on the thumbnail."


def packages_missing(env_id: str, bundle: str, extras: Sequence[str]) -> UserError:
    """The bundle that plays environments is not installed, or lacks an extra."""
    options = "".join(f" --extra {extra}" for extra in extras)
    return UserError(
        f"There is no thumbnail of {env_id}: its packages are not installed.",
        remedy=f"Run `mosaic bundles install {bundle}{options}`.",
        code=PACKAGES_MISSING,
    )


def environment_failed(message: str, remedy: str) -> UserError:
    """`message` is what the environment reported when it was created or reset."""
    return UserError(message, remedy=remedy or _STILL_PLAYABLE, code=ENVIRONMENT_FAILED)


def nothing_rendered(env_id: str, problem: str) -> UserError:
    """The environment works, but renders no frame."""
    return UserError(
        f"There is no thumbnail of {env_id}: {problem}", remedy=_STILL_PLAYABLE, code="T472"
    )


def renderer_crashed(env_id: str, how: str, stderr_tail: str) -> UserError:
    last_output = f" Last output: {stderr_tail}" if stderr_tail else ""
    return UserError(
        f"{env_id} crashed while its thumbnail was rendered: {how}.{last_output}",
        remedy="The daemon's log has details. Other environments are not affected.",
        code="T473",
    )


def renderer_timed_out(env_id: str, timeout_s: float) -> UserError:
    return UserError(
        f"{env_id} was not rendered within {timeout_s:.0f} s.",
        remedy="Try again when the machine is less busy; it may also hang when it is played.",
        code="T474",
    )


def renderer_not_started(reason: str) -> UserError:
    return UserError(
        f"No thumbnail could be rendered: {reason}.",
        remedy="Free what is missing (memory, processes, disk space) and try again.",
        code="T475",
    )

"""Errors of replays: why an episode cannot be simulated again, or why its simulation stopped."""

from collections.abc import Sequence

from mosaic.contract.errors import UserError

BUNDLE_MISSING = "T411"
"""A replay needs a bundle that is not installed. Clients offer to install it for this code."""
TOO_MANY_SIMULATIONS = "T412"
"""The maximum number of replays is open."""
ENVIRONMENT_FAILED = "T413"
"""The environment of a replay cannot be created, or raised an error."""
TELEMETRY_REMAINS = "Its telemetry is still available."
_RETRY = f"{TELEMETRY_REMAINS} Open the replay again to retry."


def not_replayable(episode: int, reason: str) -> UserError:
    return UserError(
        f"Episode {episode} cannot be replayed: {reason}", remedy=TELEMETRY_REMAINS, code="T410"
    )


def bundle_missing(name: str, extras: Sequence[str]) -> UserError:
    """Neither the run's environment nor the one it would get now is installed."""
    options = "".join(f" --extra {extra}" for extra in extras)
    return UserError(
        f"The episode cannot be replayed: the bundle {name} is not installed.",
        remedy=f"Run `mosaic bundles install {name}{options}`, then replay it again.",
        code=BUNDLE_MISSING,
    )


def too_many_simulations(maximum: int) -> UserError:
    """A replay takes a processor and a few hundred megabytes, so their number is limited."""
    return UserError(
        f"{maximum} replays are open, which is the maximum.",
        remedy="Close one of them, then try again.",
        code=TOO_MANY_SIMULATIONS,
    )


def environment_failed(message: str, remedy: str) -> UserError:
    """`message` is what the environment, or the code that creates it, reported."""
    return UserError(message, remedy=remedy or TELEMETRY_REMAINS, code=ENVIRONMENT_FAILED)


def simulation_crashed(how: str, when: str, stderr_tail: str) -> UserError:
    return UserError(
        f"The replay crashed: {how} {when}.{_last_output(stderr_tail)}", remedy=_RETRY, code="T414"
    )


def simulation_timed_out(timeout_s: float, when: str, stderr_tail: str) -> UserError:
    return UserError(
        f"The replay timed out: no response for {timeout_s:.0f} s {when}."
        f"{_last_output(stderr_tail)}",
        remedy=_RETRY,
        code="T415",
    )


def simulation_not_started(reason: str) -> UserError:
    return UserError(
        f"The replay could not be started: {reason}.",
        remedy="Free what is missing (memory, processes, disk space) and try again.",
        code="T416",
    )


def _last_output(stderr_tail: str) -> str:
    return f" Last output: {stderr_tail}" if stderr_tail else ""

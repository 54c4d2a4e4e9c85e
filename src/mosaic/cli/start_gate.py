"""Whether a run may start, and what is said when it may not. For commands that start runs."""

from typing import Any

from mosaic.cli.output import say
from mosaic.contract.readiness import PreflightReport


def may_start(readiness: PreflightReport, force: bool) -> bool:
    """Whether to go on; says what speaks against it."""
    for item in readiness.items:
        if item.status != "ok":
            style = "red" if item.status == "blocking" else "yellow"
            say(f"{item.status}: {item.message} {item.remedy}".rstrip(), style=style)
    if not readiness.is_blocked or force:
        return True
    say("The run was not started. --force starts it all the same.")
    return False


def refused(readiness: PreflightReport) -> dict[str, Any]:
    """The document of a run that was not started."""
    blocking = [item.message for item in readiness.items if item.status == "blocking"]
    return {
        "run_id": None,
        "state": "refused",
        "exit_code": None,
        "reason": " ".join(blocking),
        "digest": None,
        "preflight": readiness,
    }

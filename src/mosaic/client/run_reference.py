"""Naming a run without typing 26 letters: by the beginning or the end of its id, or by its name.

Used by `TrainerClient.resolve`, and by whoever reads the runs of a home without a daemon.
"""

from collections.abc import Iterable

from mosaic.client.errors import RunReferenceError
from mosaic.contract.ids import is_ulid

LAST = "last"
"""The newest run."""
_MOST_LISTED = 5
_REMEDY = "`mosaic runs list` shows the runs; the last letters of an id are enough."


def find_run(reference: str, runs: Iterable[tuple[str, str]]) -> str:
    """The id among `runs`, which are ids with names, that `reference` means.

    Raises `RunReferenceError` when that is none, or more than one.
    """
    known = list(runs)
    if reference == LAST and known:
        return max(run_id for run_id, _ in known)
    wanted = reference.upper()
    found = {run_id for run_id, _ in known if wanted and run_id.startswith(wanted)}
    found |= {run_id for run_id, _ in known if wanted and run_id.endswith(wanted)}
    found = found or {run_id for run_id, name in known if reference and name == reference}
    if len(found) == 1:
        return found.pop()
    if not found:
        raise unknown_reference(reference)
    some = sorted(found, reverse=True)[:_MOST_LISTED]
    more = f" and {len(found) - len(some)} more" if len(found) > len(some) else ""
    raise RunReferenceError(
        f"'{reference}' could be {len(found)} runs: {', '.join(some)}{more}.",
        remedy="Give more letters of the id.",
    )


def unknown_reference(reference: str) -> RunReferenceError:
    """The error for a reference that names no run."""
    if reference == LAST:
        return RunReferenceError(
            "There are no runs yet.", remedy="Start one, for example with `mosaic demo`."
        )
    what = (
        "There is no run" if is_ulid(reference) else "No run's id or name is, begins or ends with"
    )
    return RunReferenceError(f"{what} '{reference}'.", remedy=_REMEDY)

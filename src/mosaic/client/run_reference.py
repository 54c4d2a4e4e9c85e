"""Resolves a run reference: the first or last letters of an id, a name, or `last`.

A separate module because the command line also uses it without a daemon and without gRPC.
"""

from collections.abc import Iterable

from mosaic.client.errors import RunReferenceError
from mosaic.contract.ids import is_ulid

LAST = "last"
"""Reference to the newest run."""
_MAX_LISTED = 5
_REMEDY = "`mosaic runs list` lists the runs; the last letters of an id are enough."


def find_run(reference: str, runs: Iterable[tuple[str, str]]) -> str:
    """Return the id that `reference` matches among `runs`, pairs of id and name.

    Raises `RunReferenceError` if it matches no run, or more than one.
    """
    known = list(runs)
    if reference == LAST and known:
        return max(run_id for run_id, _ in known)
    letters = reference.upper()
    matches = {run_id for run_id, _ in known if letters and run_id.startswith(letters)}
    matches |= {run_id for run_id, _ in known if letters and run_id.endswith(letters)}
    matches = matches or {run_id for run_id, name in known if reference and name == reference}
    if len(matches) == 1:
        return matches.pop()
    if not matches:
        raise unknown_reference(reference)
    some = sorted(matches, reverse=True)[:_MAX_LISTED]
    more = f" and {len(matches) - len(some)} more" if len(matches) > len(some) else ""
    raise RunReferenceError(
        f"'{reference}' could be {len(matches)} runs: {', '.join(some)}{more}.",
        remedy="Enter more letters of the id.",
    )


def unknown_reference(reference: str) -> RunReferenceError:
    """Return the error for a reference that matches no run."""
    if reference == LAST:
        return RunReferenceError(
            "There are no runs yet.", remedy="Start one, for example with `mosaic demo`."
        )
    what = "There is no run" if is_ulid(reference) else "No run has an id or name that matches"
    return RunReferenceError(f"{what} '{reference}'.", remedy=_REMEDY)

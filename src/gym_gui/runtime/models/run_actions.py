"""What can be done with runs, and why not. Menus, buttons and commands ask here."""

from collections.abc import Collection, Iterable
from typing import Literal, get_args

from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord

RunAction = Literal[
    "open",
    "watch",
    "replay",
    "pause",
    "resume",
    "stop",
    "compare",
    "duplicate",
    "rename",
    "tag",
    "note",
    "export",
    "folder",
    "copy",
    "archive",
    "restore",
    "delete",
]

_OF_ONE: frozenset[RunAction] = frozenset(
    {"open", "watch", "replay", "duplicate", "rename", "note", "export", "folder"}
)
_OF_SEVERAL: frozenset[RunAction] = frozenset({"compare"})
_SEVERAL = 2
_VERBS: dict[RunAction, str] = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "archive": "archived",
    "restore": "brought back",
    "delete": "deleted",
}


def why_not(action: RunAction, run: RunRecord) -> str:
    """Why this cannot be done with that run; empty: it can."""
    state = run.state
    if action == "watch":
        return "" if state in LIVE_STATES else "It does not run now; replay it instead."
    if action == "replay":
        has_steps = run.digest.episodes > 0 and run.digest.steps > 0
        return "" if has_steps else "It has no recorded steps to replay."
    if action == "pause":
        return "" if state is RunState.RUNNING else "Only a run that is running can be paused."
    if action == "resume":
        return "" if state is RunState.PAUSED else "Only a paused run can be resumed."
    if action == "stop":
        if state is RunState.STOPPING:
            return "It is being stopped."
        return "The run is over." if state.is_final else ""
    if action == "duplicate":
        return "Sessions are not begun from the training form." if run.mode == "play" else ""
    if action == "archive":
        if run.archived:
            return "It is archived."
        return "" if state.is_final else "It is not over yet; stop it first."
    if action == "restore":
        return "" if run.archived else "It is not archived."
    if action == "delete":
        return "" if state.is_final else "It is not over yet; stop it first."
    return ""


def reasons(runs: Collection[RunRecord]) -> dict[RunAction, str]:
    """For each action: why it cannot be done with any of the chosen runs; empty: it can."""
    kinds = _one_of_each_kind(runs)
    return {action: _reason(action, len(runs), kinds) for action in get_args(RunAction)}


def _reason(action: RunAction, count: int, kinds: Collection[RunRecord]) -> str:
    if action in _OF_SEVERAL and count < _SEVERAL:
        return "Choose two or more runs."
    if not count:
        return "Choose a run first."
    if action in _OF_ONE and count > 1:
        return "Choose one run only."
    found = {why_not(action, run) for run in kinds}
    if "" in found:
        return ""
    if count == 1:
        return found.pop()
    return f"None of the chosen runs can be {_VERBS.get(action, 'used for this')}."


def fitting(action: RunAction, runs: Iterable[RunRecord]) -> list[str]:
    """The ids of those with which it can be done."""
    return [run.run_id for run in runs if not why_not(action, run)]


def _one_of_each_kind(runs: Iterable[RunRecord]) -> Collection[RunRecord]:
    """One of each kind: thousands may be chosen, and few kinds are among them."""
    kinds: dict[tuple[object, ...], RunRecord] = {}
    for run in runs:
        digest = run.digest
        has_steps = digest.episodes > 0 and digest.steps > 0
        kinds.setdefault((run.state, run.archived, run.mode, has_steps), run)
    return kinds.values()

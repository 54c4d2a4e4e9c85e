"""Which actions a run permits, and why not. Used by menus, buttons and commands."""

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

_SINGLE: frozenset[RunAction] = frozenset(
    {"open", "watch", "replay", "duplicate", "rename", "note", "export", "folder"}
)
_MULTIPLE: frozenset[RunAction] = frozenset({"compare"})
_MIN_MULTIPLE = 2
_VERBS: dict[RunAction, str] = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "archive": "archived",
    "restore": "restored",
    "delete": "deleted",
}


def disabled_reason(action: RunAction, run: RunRecord) -> str:
    """Why the action is not possible with this run; empty if it is."""
    state = run.state
    if action == "watch":
        return "" if state in LIVE_STATES else "The run is not active; replay it instead."
    if action == "replay":
        has_steps = run.digest.episodes > 0 and run.digest.steps > 0
        return "" if has_steps else "The run has no recorded steps."
    if action == "pause":
        return "" if state is RunState.RUNNING else "Only a running run can be paused."
    if action == "resume":
        return "" if state is RunState.PAUSED else "Only a paused run can be resumed."
    if action == "stop":
        if state is RunState.STOPPING:
            return "The run is already stopping."
        return "The run has ended." if state.is_final else ""
    if action == "duplicate":
        return "Play sessions cannot be duplicated." if run.mode == "play" else ""
    if action == "archive":
        if run.archived:
            return "The run is already archived."
        return "" if state.is_final else "The run is active; stop it first."
    if action == "restore":
        return "" if run.archived else "The run is not archived."
    if action == "delete":
        return "" if state.is_final else "The run is active; stop it first."
    return ""


def disabled_reasons(runs: Collection[RunRecord]) -> dict[RunAction, str]:
    """For each action, why it is possible with none of the runs; empty if it is with one."""
    samples = _sample_kinds(runs)
    return {action: _reason(action, len(runs), samples) for action in get_args(RunAction)}


def _reason(action: RunAction, count: int, samples: Collection[RunRecord]) -> str:
    if action in _MULTIPLE and count < _MIN_MULTIPLE:
        return "Select two or more runs."
    if not count:
        return "Select a run first."
    if action in _SINGLE and count > 1:
        return "Select only one run."
    reasons = {disabled_reason(action, run) for run in samples}
    if "" in reasons:
        return ""
    if count == 1:
        return reasons.pop()
    return f"None of the selected runs can be {_VERBS.get(action, 'used for this')}."


def applicable_ids(action: RunAction, runs: Iterable[RunRecord]) -> list[str]:
    """The ids of the runs that permit the action."""
    return [run.run_id for run in runs if not disabled_reason(action, run)]


def _sample_kinds(runs: Iterable[RunRecord]) -> Collection[RunRecord]:
    """One run of each kind: thousands may be selected, but they have few kinds."""
    kinds: dict[tuple[object, ...], RunRecord] = {}
    for run in runs:
        digest = run.digest
        has_steps = digest.episodes > 0 and digest.steps > 0
        kinds.setdefault((run.state, run.archived, run.mode, has_steps), run)
    return kinds.values()

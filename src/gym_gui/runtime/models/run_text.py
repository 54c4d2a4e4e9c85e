"""Texts about runs and their actors: titles, states, progress."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from gym_gui.runtime.models.formatting import format_integer, one_line, sentence
from gym_gui.runtime.models.notices import Tone
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord

HUMAN = "human"
_SHORT_ID = 6
_MAX_VALUE_CHARS = 24
_SAVED_POLICY = re.compile(r"(?P<run>[0-9A-Z]{26})\.[0-9a-f]+")


class StateStyle(NamedTuple):
    """Symbol, word and tone, so that colour is not the only difference."""

    symbol: str
    word: str
    tone: Tone


STATE_STYLES: Mapping[RunState, StateStyle] = MappingProxyType(
    {
        RunState.QUEUED: StateStyle("◷", "queued", "warning"),
        RunState.PREPARING: StateStyle("◌", "preparing", "warning"),
        RunState.RUNNING: StateStyle("●", "running", "good"),
        RunState.PAUSED: StateStyle("‖", "paused", "warning"),
        RunState.STOPPING: StateStyle("◍", "stopping", "warning"),
        RunState.SUCCEEDED: StateStyle("✓", "done", "plain"),
        RunState.FAILED: StateStyle("✕", "failed", "bad"),
        RunState.CANCELLED: StateStyle("○", "stopped", "plain"),
        RunState.LOST: StateStyle("?", "lost", "bad"),
    }
)
STATE_ORDER: Mapping[RunState, int] = MappingProxyType(
    {
        state: position
        for position, state in enumerate(
            (
                *(RunState.RUNNING, RunState.PAUSED, RunState.STOPPING, RunState.PREPARING),
                *(RunState.QUEUED, RunState.FAILED, RunState.LOST),
                *(RunState.SUCCEEDED, RunState.CANCELLED),
            )
        )
    }
)
"""Running states first, then failures."""


def short_id(run_id: str) -> str:
    """The last characters of an id, which differ between runs of the same second."""
    return run_id[-_SHORT_ID:]


def title_of(run: RunRecord) -> str:
    """The name, or environment, algorithm and seed."""
    return run.name or " ".join(filter(None, (run.env_id, run.algo or run.mode, f"s{run.seed}")))


@lru_cache(maxsize=256)
def worker_label(worker: str) -> str:
    """`CleanRL` for `cleanrl_worker`; used if there is no descriptor."""
    names = {"cleanrl": "CleanRL", "corl": "CORL", "llm": "LLM", "bdi": "BDI", "rl": "RL"}
    parts = worker.removesuffix("_worker").split("_")
    return " ".join(names.get(part, part.capitalize()) for part in parts if part)


def environment_text(env_id: str, env_kwargs: Mapping[str, object]) -> str:
    """`FrozenLake-v1 · is_slippery=false`: the id and the keyword arguments."""
    return " · ".join(
        (env_id, *(f"{name}={_short_value(env_kwargs[name])}" for name in env_kwargs))
    )


def _short_value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else one_line(str(value))
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 1]}…"


def state_text(run: RunRecord) -> str:
    style = STATE_STYLES[run.state]
    reason = run.reason if run.state in (RunState.FAILED, RunState.LOST) else ""
    return f"{style.symbol} {style.word}" + (f": {one_line(reason)}" if reason else "")


def end_text(run: RunRecord) -> str:
    """The final state and its reason, without repeating the state."""
    word, reason = STATE_STYLES[run.state].word, sentence(f"{run.reason} {run.remedy}")
    return reason if reason.lower().startswith(word) else f"{word}. {reason}".strip()


def progress_of(run: RunRecord) -> float | None:
    """From 0 to 1; None if the run has not reported its total."""
    done, total = run.digest.progress_done, run.digest.progress_total
    if run.state is RunState.SUCCEEDED:
        return 1.0
    if done is None or not total or not math.isfinite(done / total):
        return None
    return min(1.0, max(0.0, done / total))


def installation_text(run: RunRecord) -> str:
    """Installation progress of a run that is being prepared; empty if not reported."""
    digest = run.digest
    if digest.progress_unit != "packages" or not digest.progress_total:
        return ""
    done, total = int(digest.progress_done or 0), int(digest.progress_total)
    return f"{format_integer(done)} of {format_integer(total)} packages installed."


def elapsed_s(run: RunRecord, now: float) -> float | None:
    if run.started_at is None:
        return None
    return max(0.0, (run.ended_at or now) - run.started_at)


def speed_of(run: RunRecord) -> float | None:
    """Steps per second; None for a run that is paused or has not started."""
    is_active = run.state in LIVE_STATES and run.state is not RunState.PAUSED
    return run.digest.sps if is_active and run.digest.steps_done else None


def time_left_of(run: RunRecord) -> float | None:
    return run.digest.eta_s if run.state is RunState.RUNNING else None


def actor_label(actor: str | None) -> str:
    """`you` for a human, the name of an agent, or `policy` with the short id of its run."""
    if actor == HUMAN:
        return "you"
    if actor and (policy := _SAVED_POLICY.fullmatch(actor)):
        return f"policy {short_id(policy['run'])}"
    return actor.partition(":")[0].replace("_", " ") if actor else "agent"


def actors_label(actors: Sequence[str]) -> str:
    """The actors of an episode: `you + agent`."""
    return " + ".join(dict.fromkeys(actor_label(actor) for actor in actors)) or "agent"


def run_count(count: int) -> str:
    return f"{format_integer(count)} run{'' if count == 1 else 's'}"


def unique_titles(runs: Sequence[RunRecord]) -> dict[str, str]:
    """Titles by id; runs of the same name get their short ids appended."""
    titles = {run.run_id: title_of(run) for run in runs}
    counts = Counter(titles.values())
    return {
        run_id: title if counts[title] == 1 else f"{title} · {short_id(run_id)}"
        for run_id, title in titles.items()
    }

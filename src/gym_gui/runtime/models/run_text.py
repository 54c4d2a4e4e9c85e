"""A run's figures in words, as lists and cards show them. Used by models and views of runs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from gym_gui.runtime.models.notices import Tone
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord

_SHORT_ID = 6
_MAX_SETTING = 24
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86400
_THOUSAND = 1000.0
_MANY = 100.0
_MINUS = "\N{MINUS SIGN}"
_MIN_PLAIN = 0.005
_MAX_PLAIN = 1e7
"""Beyond these a number is written with an exponent."""


class StateStyle(NamedTuple):
    """Never by colour alone: the symbol and the word say it too."""

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
        state: place
        for place, state in enumerate(
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
    """The end of an id, which differs between runs of the same second."""
    return run_id[-_SHORT_ID:]


def title_of(run: RunRecord) -> str:
    """What people call it: its name, or what it does."""
    return run.name or " ".join(filter(None, (run.env_id, run.algo or run.mode, f"s{run.seed}")))


@lru_cache(maxsize=256)
def worker_label(worker: str) -> str:
    """`cleanrl_worker` as people say it, where nothing better is known."""
    words = {"cleanrl": "CleanRL", "corl": "CORL", "llm": "LLM", "bdi": "BDI", "rl": "RL"}
    parts = worker.removesuffix("_worker").split("_")
    return " ".join(words.get(part, part.capitalize()) for part in parts if part)


def environment_text(env_id: str, env_kwargs: Mapping[str, object]) -> str:
    """`FrozenLake-v1 · is_slippery=false`: what it is made with, where that is not the usual."""
    return " · ".join((env_id, *(f"{name}={_in_short(env_kwargs[name])}" for name in env_kwargs)))


def _in_short(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else one_line(str(value))
    return text if len(text) <= _MAX_SETTING else f"{text[: _MAX_SETTING - 1]}…"


def state_text(run: RunRecord) -> str:
    style = STATE_STYLES[run.state]
    why = run.reason if run.state in (RunState.FAILED, RunState.LOST) else ""
    return f"{style.symbol} {style.word}" + (f": {one_line(why)}" if why else "")


def end_text(run: RunRecord) -> str:
    """How a run ended, and why; without repeating the state."""
    word, why = STATE_STYLES[run.state].word, sentence(f"{run.reason} {run.remedy}")
    return why if why.lower().startswith(word) else f"{word}. {why}".strip()


def progress_of(run: RunRecord) -> float | None:
    """From 0 to 1; None when the run does not say how far it has to go."""
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
    return f"{integer(done)} of {integer(total)} packages are installed."


def elapsed_s(run: RunRecord, now: float) -> float | None:
    if run.started_at is None:
        return None
    return max(0.0, (run.ended_at or now) - run.started_at)


def speed_of(run: RunRecord) -> float | None:
    """Steps per second; None for a run that is paused or has not started."""
    is_at_work = run.state in LIVE_STATES and run.state is not RunState.PAUSED
    return run.digest.sps if is_at_work and run.digest.steps_done else None


def time_left_of(run: RunRecord) -> float | None:
    return run.digest.eta_s if run.state is RunState.RUNNING else None


def duration(seconds: float | None) -> str:
    """`00:41`, `3:12:07`, `2 d 4 h`."""
    if seconds is None:
        return ""
    total = int(seconds)
    if total >= _DAY_S:
        return f"{total // _DAY_S} d {total % _DAY_S // _HOUR_S} h"
    minutes = f"{total % _HOUR_S // _MINUTE_S:02d}:{total % _MINUTE_S:02d}"
    return f"{total // _HOUR_S}:{minutes}" if total >= _HOUR_S else minutes


def rate(per_second: float | None) -> str:
    """`812 /s`, `3.1 k/s`."""
    if per_second is None or not math.isfinite(per_second):
        return ""
    return f"{amount(per_second)}/s"


def amount(value: float) -> str:
    """A number in a few characters, such as `812 ` and `3.1 k`."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < _THOUSAND or unit == "G":
            break
        value /= _THOUSAND
    digits = f"{value:.0f}" if not unit or abs(value) >= _MANY else f"{value:.1f}"
    return f"{digits} {unit}"


def number(value: float | None) -> str:
    """A return or a reward: two digits after the point, so that columns align.

    What would be 0.00 has one digit that counts: a column of numbers must never be cut.
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else f"{_MINUS}∞")
    if value != 0 and abs(value) < _MIN_PLAIN:
        text = f"{value:.1g}"
    else:
        text = f"{value:,.2f}" if abs(value) < _MAX_PLAIN else f"{value:.2g}"
    return text.replace("-", _MINUS)


def integer(value: int) -> str:
    return f"{value:,}"


def size(size_bytes: int | None) -> str:
    """`512 B`, `3.4 MB`."""
    if size_bytes is None:
        return ""
    return f"{amount(size_bytes)}B"


def timestamp(t: float) -> str:
    """`14:05` today, `12 Nov 14:05` this year, `2025-11-12` before."""
    then, now = datetime.fromtimestamp(t), datetime.now()  # noqa: DTZ005, DTZ006 - as clocks here
    if then.date() == now.date():
        return f"{then:%H:%M}"
    return f"{then.day} {then:%b %H:%M}" if then.year == now.year else f"{then:%Y-%m-%d}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def sentence(text: str) -> str:
    """In one line, with an end."""
    line = one_line(text)
    return f"{line}." if line and line[-1] not in ".!?…" else line


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def run_count(count: int) -> str:
    return f"{integer(count)} run{'' if count == 1 else 's'}"


def unique_titles(runs: Sequence[RunRecord]) -> dict[str, str]:
    """Titles by id; runs of the same name get their short ids appended."""
    titles = {run.run_id: title_of(run) for run in runs}
    often = Counter(titles.values())
    return {
        run_id: title if often[title] == 1 else f"{title} · {short_id(run_id)}"
        for run_id, title in titles.items()
    }

"""What a line that a script prints says, in the forms that CleanRL's scripts use.

Nothing is guessed: a line that looks like telemetry and is not understood is `UNREADABLE`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"[-+]?(?:\d+(?:_\d+)*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)"
_VALUE = r"\[[^\]]*\]|[A-Za-z_][\w.]*\([^()]*\)|[^\s,=]+"
_PAIR = rf"(?P<key>[A-Za-z_][\w./-]*)\s*=\s*(?P<value>{_VALUE})"
_EACH_PAIR = re.compile(_PAIR)
_UNNAMED_PAIR = re.sub(r"\?P<\w+>", "?:", _PAIR)
_WHOLE_LINE = re.compile(rf"{_UNNAMED_PAIR}(?:(?:,\s*|\s+){_UNNAMED_PAIR})*,?")
_LOOKS_LIKE_PAIRS = re.compile(r"[A-Za-z_][\w./-]*=\S|.*\b(?:global_step|episodic_\w+)\s*[=:]")
_SPEED = re.compile(rf"SPS:\s*({_NUMBER})")
_SAVED = re.compile(r"model saved to (?P<path>\S.*)")
_TRACKED = re.compile(r"https?://\S+/runs/(?P<id>[\w-]+)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WRAPPED = re.compile(r"[A-Za-z_][\w.]*\(\[?(?P<inner>[^()\]]*)\]?[^()]*\)")
_FLOAT = re.compile(_NUMBER)
_BEGINS_AS_NUMBER = re.compile(r"[-+.]?\d|\[")

_STEPS = ("global_step", "step")
_EVALUATION = "eval_episode"
_KNOWN = (*_STEPS, _EVALUATION, "episodic_return", "episodic_length")

CANDIDATE_SIGNS = (b"=", b"SPS", b"saved to", b"://", b"episodic", b"global_step")
"""A line with none of these says nothing that is understood here."""


class Figures(NamedTuple):
    """`key=value, key=value`: the step that they belong to, and every number by its key."""

    step: int | None
    evaluation: int | None
    """The number of an evaluation's episode, where it is one."""
    values: dict[str, list[float]]


class Speed(NamedTuple):
    """`SPS: 1393`."""

    steps_per_second: float


class SavedModel(NamedTuple):
    """`model saved to runs/…`."""

    path: str


class TrackedAt(NamedTuple):
    """The address of a run at Weights & Biases."""

    url: str
    run_id: str


class Unreadable(NamedTuple):
    """Looks like telemetry, in a form that is not known."""

    line: str


Said = Figures | Speed | SavedModel | TrackedAt | Unreadable | None


def read_line(line: str) -> Said:
    """What `line` says; None for one that is no telemetry."""
    text = last_written(line)
    if text.startswith("SPS"):
        speed = _SPEED.fullmatch(text)
        return Speed(float(speed[1])) if speed else Unreadable(text)
    saved = _SAVED.fullmatch(text)
    if saved:
        return SavedModel(saved["path"])
    if "://" in text:
        return read_address(text)
    if _WHOLE_LINE.fullmatch(text):
        figures = _figures(text)
        if figures is not None:
            return figures
    return Unreadable(text) if _LOOKS_LIKE_PAIRS.match(text) else None


def read_address(line: str) -> TrackedAt | None:
    """Where Weights & Biases says that a run can be seen."""
    text = _COLOURS.sub("", line)
    found = _TRACKED.search(text) if "wandb" in text else None
    return TrackedAt(found[0], found["id"]) if found else None


def last_written(line: str) -> str:
    """A line as a terminal would show it: what a progress bar drew before is written over."""
    return _COLOURS.sub("", line.rstrip("\r\n").rpartition("\r")[2]).strip()


def _figures(text: str) -> Figures | None:
    values: dict[str, list[float]] = {}
    for pair in _EACH_PAIR.finditer(text):
        key, numbers = pair["key"], _numbers(pair["value"])
        if numbers:
            values[key] = numbers
        elif key in _KNOWN or _BEGINS_AS_NUMBER.match(pair["value"]):
            return None
    steps = [values.pop(key)[0] for key in _STEPS if key in values]
    evaluation = values.pop(_EVALUATION, [None])[0]
    if not values and not steps:
        return None
    if not all(_is_whole(number) for number in (*steps, evaluation) if number is not None):
        return None
    return Figures(
        int(steps[0]) if steps else None, None if evaluation is None else int(evaluation), values
    )


def _numbers(text: str) -> list[float]:
    """`15.0`, `[15. 20.]`, `np.float32(15.0)`, `array([15.], dtype=float32)`; empty for others."""
    wrapped = _WRAPPED.fullmatch(text)
    inner = wrapped["inner"].partition(" dtype")[0] if wrapped else text.strip("[]")
    words = inner.replace(",", " ").split()
    if not all(_FLOAT.fullmatch(word) for word in words):
        return []
    return [float(word) for word in words]


def _is_whole(number: float) -> bool:
    return number == number and abs(number) < 2**63 and number == int(number)

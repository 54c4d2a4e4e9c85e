"""Parses the lines that CleanRL's scripts print.

A line that looks like telemetry but fails to parse is returned as `Unreadable`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"[-+]?(?:\d+(?:_\d+)*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)"
_VALUE = r"\[[^\]]*\]|[A-Za-z_][\w.]*\([^()]*\)|[^\s,=]+"
_PAIR = rf"(?P<key>[A-Za-z_][\w./-]*)\s*=\s*(?P<value>{_VALUE})"
_PAIRS = re.compile(_PAIR)
_UNNAMED_PAIR = re.sub(r"\?P<\w+>", "?:", _PAIR)
_PAIRS_LINE = re.compile(rf"{_UNNAMED_PAIR}(?:(?:,\s*|\s+){_UNNAMED_PAIR})*,?")
_TELEMETRY_PREFIX = re.compile(r"[A-Za-z_][\w./-]*=\S|.*\b(?:global_step|episodic_\w+)\s*[=:]")
_SPEED = re.compile(rf"SPS:\s*({_NUMBER})")
_SAVED = re.compile(r"model saved to (?P<path>\S.*)")
_TRACKED = re.compile(r"https?://\S+/runs/(?P<id>[\w-]+)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WRAPPED = re.compile(r"[A-Za-z_][\w.]*\(\[?(?P<inner>[^()\]]*)\]?[^()]*\)")
_FLOAT = re.compile(_NUMBER)
_STARTS_AS_NUMBER = re.compile(r"[-+.]?\d|\[")

_STEPS = ("global_step", "step")
_EVALUATION = "eval_episode"
_KNOWN = (*_STEPS, _EVALUATION, "episodic_return", "episodic_length")

TELEMETRY_MARKERS = (b"=", b"SPS", b"saved to", b"://", b"episodic", b"global_step")
"""A line without any of these is not telemetry."""


class PrintedMetrics(NamedTuple):
    """`key=value, key=value`: the step, and all other numbers by their keys."""

    step: int | None
    evaluation: int | None
    """The number of the evaluation episode, if it is one."""
    values: dict[str, list[float]]


class PrintedSpeed(NamedTuple):
    """`SPS: 1393`."""

    steps_per_second: float


class SavedModel(NamedTuple):
    """`model saved to runs/…`."""

    path: str


class WandbRunUrl(NamedTuple):
    """The URL of a run at Weights & Biases."""

    url: str
    run_id: str


class Unreadable(NamedTuple):
    """Looks like telemetry but failed to parse."""

    text: str


ParsedLine = PrintedMetrics | PrintedSpeed | SavedModel | WandbRunUrl | Unreadable | None


def read_line(line: str) -> ParsedLine:
    """Parse a line; None if it is not telemetry."""
    text = visible_text(line)
    if text.startswith("SPS"):
        speed = _SPEED.fullmatch(text)
        return PrintedSpeed(float(speed[1])) if speed else Unreadable(text)
    saved = _SAVED.fullmatch(text)
    if saved:
        return SavedModel(saved["path"])
    if "://" in text:
        return read_wandb_url(text)
    if _PAIRS_LINE.fullmatch(text):
        metrics = _parse_metrics(text)
        if metrics is not None:
            return metrics
    return Unreadable(text) if _TELEMETRY_PREFIX.match(text) else None


def read_wandb_url(line: str) -> WandbRunUrl | None:
    """Return the URL of the run that Weights & Biases prints."""
    text = _COLOURS.sub("", line)
    match = _TRACKED.search(text) if "wandb" in text else None
    return WandbRunUrl(match[0], match["id"]) if match else None


def visible_text(line: str) -> str:
    """Return a line as a terminal shows it, without the overwritten part of a progress bar."""
    return _COLOURS.sub("", line.rstrip("\r\n").rpartition("\r")[2]).strip()


def _parse_metrics(text: str) -> PrintedMetrics | None:
    values: dict[str, list[float]] = {}
    for pair in _PAIRS.finditer(text):
        key, numbers = pair["key"], _numbers(pair["value"])
        if numbers:
            values[key] = numbers
        elif key in _KNOWN or _STARTS_AS_NUMBER.match(pair["value"]):
            return None
    steps = [values.pop(key)[0] for key in _STEPS if key in values]
    evaluation = values.pop(_EVALUATION, [None])[0]
    if not values and not steps:
        return None
    if not all(_is_integer(number) for number in (*steps, evaluation) if number is not None):
        return None
    return PrintedMetrics(
        int(steps[0]) if steps else None, None if evaluation is None else int(evaluation), values
    )


def _numbers(text: str) -> list[float]:
    """`15.0`, `[15. 20.]`, `np.float32(15.0)`, `array([15.], dtype=float32)`; empty for others."""
    wrapped = _WRAPPED.fullmatch(text)
    inner = wrapped["inner"].partition(" dtype")[0] if wrapped else text.strip("[]")
    tokens = inner.replace(",", " ").split()
    if not all(_FLOAT.fullmatch(token) for token in tokens):
        return []
    return [float(token) for token in tokens]


def _is_integer(number: float) -> bool:
    return number == number and abs(number) < 2**63 and number == int(number)

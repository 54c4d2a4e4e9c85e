"""The `policy` line: greedy actions and Q-values of every state, as lists that the store accepts.

Used by `Emitter.policy` and by the play loop, for actors with a `policy()` method.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.compat import make_getattr
from mosaic_worker.errors import WorkerError
from mosaic_worker.scalars import to_column, to_int64, to_number

MAX_STATES = 10_000
MAX_ACTIONS = 64
_MAX_VALUES = 64_000
"""Fits into one line; for a larger table only the best action of each state is reported."""
_DIGITS = ".6g"


class PolicyTable(NamedTuple):
    """One entry per state; None for a column that is not reported."""

    actions: list[int | None] | None = None
    q_values: list[list[float]] | None = None


def make_policy_table(actions: Any = None, q_values: Any = None) -> PolicyTable:
    """Validate and convert the arguments, which may be arrays. Raises WorkerError."""
    greedy = (
        None
        if actions is None
        else [_to_action(action) for action in to_column("actions", actions)]
    )
    values = None if q_values is None else [_to_row(row) for row in to_column("q_values", q_values)]
    for name, listed in (("actions", greedy), ("q_values", values)):
        if listed is not None and len(listed) > MAX_STATES:
            raise WorkerError(
                f"'{name}' has {len(listed)} states.", remedy=f"Report at most {MAX_STATES} states."
            )
    if greedy is not None and values is not None and len(greedy) != len(values):
        raise WorkerError(
            f"'actions' has {len(greedy)} states and 'q_values' has {len(values)}.",
            remedy="Pass one entry per state in both.",
        )
    if values is not None and len({len(row) for row in values}) != 1:
        raise WorkerError(
            "The rows of 'q_values' have different lengths.",
            remedy="Pass one value per action in every row.",
        )
    if values is not None and len(values) * len(values[0]) > _MAX_VALUES:
        return PolicyTable(greedy or [row.index(max(row)) for row in values])
    return PolicyTable(greedy, values)


def _to_action(value: Any) -> int | None:
    return None if value is None else to_int64("actions", value)


def _to_value(given: Any) -> float:
    value = float(format(to_number("q_values", given), _DIGITS))
    # One NaN object, so that equal tables compare equal.
    return math.nan if math.isnan(value) else value


def _to_row(values: Any) -> list[float]:
    row = [_to_value(value) for value in to_column("q_values", values)]
    if len(row) > MAX_ACTIONS:
        raise WorkerError(
            f"'q_values' has {len(row)} actions.", remedy=f"Report at most {MAX_ACTIONS} actions."
        )
    return row


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)

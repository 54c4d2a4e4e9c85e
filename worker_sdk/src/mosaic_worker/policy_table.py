"""The `policy` line: what an actor would do in each state, as plain lists that the store accepts.

Used by `Emitter.policy` and, with what an actor offers, by the play loop.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from mosaic_worker.errors import WorkerError
from mosaic_worker.scalars import column, number, whole64

MOST_STATES = 10_000
MOST_ACTIONS = 64
_MOST_VALUES = 64_000
"""As many as surely fit into one line; of more, only the best action of each state is told."""
_DIGITS = ".6g"


class PolicyTable(NamedTuple):
    """One entry for each state, from the first on; None where nothing is told."""

    actions: list[int | None] | None = None
    q_values: list[list[float]] | None = None


def policy_table(actions: Any = None, q_values: Any = None) -> PolicyTable:
    """Lists of what was given (arrays included). WorkerError says what is wrong with it."""
    told = None if actions is None else [_action(each) for each in column("actions", actions)]
    values = None if q_values is None else [_row(each) for each in column("q_values", q_values)]
    for name, listed in (("actions", told), ("q_values", values)):
        if listed is not None and len(listed) > MOST_STATES:
            raise WorkerError(
                f"'{name}' has {len(listed)} states.", remedy=f"Tell of at most {MOST_STATES}."
            )
    if told is not None and values is not None and len(told) != len(values):
        raise WorkerError(
            f"'actions' tells of {len(told)} states and 'q_values' of {len(values)}.",
            remedy="Give both one entry for every state.",
        )
    if values is not None and len({len(row) for row in values}) != 1:
        raise WorkerError(
            "The rows of 'q_values' differ in length.",
            remedy="Give one value for every action in every state.",
        )
    if values is not None and len(values) * len(values[0]) > _MOST_VALUES:
        return PolicyTable(told or [row.index(max(row)) for row in values])
    return PolicyTable(told, values)


def _action(value: Any) -> int | None:
    return None if value is None else whole64("actions", value)


def _value(given: Any) -> float:
    value = float(format(number("q_values", given), _DIGITS))
    return math.nan if math.isnan(value) else value  # the same one, so that equal tables are equal


def _row(values: Any) -> list[float]:
    row = [_value(each) for each in column("q_values", values)]
    if len(row) > MOST_ACTIONS:
        raise WorkerError(
            f"'q_values' has {len(row)} actions.", remedy=f"Tell of at most {MOST_ACTIONS}."
        )
    return row

"""A table as views draw it: the values of every state, and the best action where it was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.policy_table import MAX_ACTIONS, MAX_STATES
from spade_bdi_rl_worker.learning.action_values import one_of
from spade_bdi_rl_worker.learning.state_encoding import DISCRETE

if TYPE_CHECKING:
    from spade_bdi_rl_worker.learning.action_values import ActionValues


def drawn_table(
    values: ActionValues, tries: list[int], kind: str, first_action: int
) -> dict[str, Any] | None:
    """What the `policy` line takes; None where states are no plain numbers, or too many."""
    states, actions = len(values.rows), values.actions
    if kind != DISCRETE or states > MAX_STATES or actions > MAX_ACTIONS:
        return None
    met = [any(tries[at : at + actions]) for at in range(0, states * actions, actions)]
    return {
        "actions": [
            one_of(best) + first_action if is_met else None
            for best, is_met in zip(values.best, met, strict=True)
        ],
        "q_values": values.rows,
    }

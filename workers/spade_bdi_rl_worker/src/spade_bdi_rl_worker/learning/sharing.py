"""What learners of one environment tell each other: values, and how sure they are of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding

_NOT_OURS = "Let learners of one environment and one method share what they know."


def knowledge_of(method: Method, encoding: StateEncoding) -> dict[str, Any]:
    """In plain values. Rows in which nothing was tried are left out."""
    actions, names = method.values.actions, encoding.names
    rows = {}
    for state, values in enumerate(method.values.rows):
        tries = method.tries[state * actions : (state + 1) * actions]
        if any(tries):
            name = str(state) if names is None else names[state]
            rows[name] = [[round(value, 9) for value in values], tries]
    return {"actions": actions, "rows": rows}


def merge_knowledge(method: Method, shared: Any, encoding: StateEncoding) -> None:
    """A value becomes the mean of both, weighed by how often each was tried. WorkerError."""
    actions = method.values.actions
    try:
        if shared["actions"] != actions:
            raise WorkerError(
                f"The teammate has {shared['actions']} actions, and here there are {actions}.",
                remedy=_NOT_OURS,
            )
        rows = [(name, values, tries) for name, (values, tries) in shared["rows"].items()]
    except (KeyError, TypeError, ValueError):
        raise WorkerError("What a teammate shared cannot be read.", remedy=_NOT_OURS) from None
    for name, values, tries in rows:
        state = encoding.number(name)
        if state is None:
            raise WorkerError(f"A teammate knows a state {name}.", remedy=_NOT_OURS)
        _merge_row(method, state, values, tries)


def _merge_row(method: Method, state: int, values: list[float], tries: list[int]) -> None:
    for action, (theirs, their_tries) in enumerate(zip(values, tries, strict=True)):
        own_tries = method.tries[state * method.values.actions + action]
        if their_tries:
            weight = their_tries / (their_tries + own_tries)
            for table in method.tables:
                own = table.rows[state][action]
                table.put(state, action, own + weight * (theirs - own))

"""AgentSpeak's terms as text that people read, and as the values that Python needs."""

from __future__ import annotations

from typing import Any

import agentspeak
from agentspeak import Literal

_PERCEPT = "percept"


def term_text(term: Any) -> str:
    """A term without its annotations, as it would stand in a file of plans."""
    if isinstance(term, Literal):
        if not term.args:
            return str(term.functor)
        return f"{term.functor}({', '.join(map(term_text, term.args))})"
    if isinstance(term, float):
        return f"{term:.6g}"
    if isinstance(term, agentspeak.Var):
        return "_"
    return str(agentspeak.asl_repr(term))


def belief_text(belief: Literal) -> str:
    """A belief, with its source where that is not the agent itself or what it perceives."""
    sources = [
        term_text(annotation.args[0])
        for annotation in belief.annots
        if annotation.functor == "source" and annotation.args
    ]
    told = [source for source in sources if source != _PERCEPT]
    return term_text(belief) + (f"[source({', '.join(told)})]" if told else "")


def percept(name: str, *values: Any) -> Literal:
    """A belief about the world."""
    source = Literal("source", (Literal(_PERCEPT),))
    return Literal(name, tuple(values), frozenset([source]))


def whole_number(action: str, term: Any, intention: Any, least: int = 0) -> int:
    """An action's argument; AslError when it is none, which is shown with its line."""
    value = agentspeak.grounded(term, intention.scope)
    is_whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if isinstance(value, bool) or not is_whole:
        raise agentspeak.AslError(f"{action} needs a whole number, not {term_text(value)}")
    if value < least:
        raise agentspeak.AslError(f"{action} needs a number of at least {least}, not {int(value)}")
    return int(value)


def fraction(action: str, term: Any, intention: Any) -> float:
    """An action's argument from 0 to 1."""
    value = agentspeak.grounded(term, intention.scope)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise agentspeak.AslError(f"{action} needs a number from 0 to 1, not {term_text(value)}")
    return float(value)


def text(term: Any, intention: Any) -> str:
    """An action's argument as plain text: a string without its quotes, or any term."""
    value = agentspeak.grounded(term, intention.scope)
    return value if isinstance(value, str) else term_text(value)

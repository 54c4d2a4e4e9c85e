"""Conversion of AgentSpeak terms: to readable text, and to Python values for actions."""

from __future__ import annotations

from typing import Any

import agentspeak
from agentspeak import Literal

_PERCEPT = "percept"


def format_term(term: Any) -> str:
    """Return a term without its annotations, in AgentSpeak syntax."""
    if isinstance(term, Literal):
        if not term.args:
            return str(term.functor)
        return f"{term.functor}({', '.join(map(format_term, term.args))})"
    if isinstance(term, float):
        return f"{term:.6g}"
    if isinstance(term, agentspeak.Var):
        return "_"
    return str(agentspeak.asl_repr(term))


def format_belief(belief: Literal) -> str:
    """Return a belief as text, with its source if a teammate sent it."""
    sources = [
        format_term(annotation.args[0])
        for annotation in belief.annots
        if annotation.functor == "source" and annotation.args
    ]
    senders = [source for source in sources if source != _PERCEPT]
    return format_term(belief) + (f"[source({', '.join(senders)})]" if senders else "")


def make_percept(name: str, *values: Any) -> Literal:
    """Return a belief with the annotation `source(percept)`."""
    source = Literal("source", (Literal(_PERCEPT),))
    return Literal(name, tuple(values), frozenset([source]))


def integer_argument(action: str, term: Any, intention: Any, minimum: int = 0) -> int:
    """Return an integer argument of an action; otherwise raise AslError with the line."""
    value = agentspeak.grounded(term, intention.scope)
    is_integer = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if isinstance(value, bool) or not is_integer:
        raise agentspeak.AslError(f"{action} needs an integer, got {format_term(value)}")
    if value < minimum:
        raise agentspeak.AslError(f"{action} needs at least {minimum}, got {int(value)}")
    return int(value)


def fraction_argument(action: str, term: Any, intention: Any) -> float:
    """Return an argument of an action between 0 and 1."""
    value = agentspeak.grounded(term, intention.scope)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise agentspeak.AslError(f"{action} needs a number from 0 to 1, got {format_term(value)}")
    return float(value)


def text_argument(term: Any, intention: Any) -> str:
    """Return an argument as plain text: a string without its quotes, or any term."""
    value = agentspeak.grounded(term, intention.scope)
    return value if isinstance(value, str) else format_term(value)

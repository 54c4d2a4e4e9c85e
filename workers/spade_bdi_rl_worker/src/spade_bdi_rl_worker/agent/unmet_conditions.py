"""Why a plan is not applicable to a goal: where it stands, and which condition does not hold.

Asked by `ObservedAgent` when no plan is applicable, which ends the run: it may take its time.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import agentspeak
from agentspeak.runtime import ActionQuery, AndQuery, Intention, NotQuery, OrQuery, TermQuery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentspeak.parser import AstPlan
    from agentspeak.runtime import Agent, Plan


def place_of(written: AstPlan | None) -> str:
    """The file and the line; empty for a plan that was told by a message."""
    loc = getattr(written, "loc", None)
    return f"{loc.filename}, line {loc.lineno}" if loc else ""


def why_not(plan: Plan, written: AstPlan | None, goal: Any, agent: Agent) -> str:
    """Half a sentence. The plan's conditions are asked once more, in their order."""
    intention = Intention()
    if not any(_unified(plan, goal, intention)):
        return f"it is for {written.event.head if written else plan.head}"
    conditions = _parts(plan.context)
    texts = _texts(written.context) if written is not None and written.context else []
    if len(texts) != len(conditions):
        return "its condition does not hold"
    for number, condition in enumerate(conditions, start=1):
        if _acts(condition):
            break
        if not any(_met(conditions[:number], plan, goal, agent)):
            return f"`{texts[number - 1]}` does not hold{_strange(condition, agent)}"
    return "its condition does not hold"


def _unified(plan: Plan, goal: Any, intention: Intention) -> Iterator[bool]:
    for _ in agentspeak.unify_annotated(plan.head, goal, intention.scope, intention.stack):
        yield True


def _met(conditions: Sequence[Any], plan: Plan, goal: Any, agent: Agent) -> Iterator[bool]:
    """Yields for every way in which all of them hold."""
    whole = conditions[0]
    for each in conditions[1:]:
        whole = AndQuery(whole, each)
    intention = Intention()
    for _ in _unified(plan, goal, intention):
        for _ in whole.execute(agent, intention):
            yield True


def _parts(query: Any) -> list[Any]:
    """What stands between the `&`, from left to right."""
    if isinstance(query, AndQuery):
        return [*_parts(query.left), *_parts(query.right)]
    return [query]


def _texts(context: Any) -> list[str]:
    """The same as it was written, in the same order."""
    if getattr(context, "operator", None) == agentspeak.BinaryOp.op_and:
        return [*_texts(context.left), *_texts(context.right)]
    text = str(context)
    return [text[1:-1] if hasattr(context, "operator") else text]  # it puts brackets around


def _acts(query: Any) -> bool:
    """Whether asking it does something, which is not to be done twice."""
    if isinstance(query, ActionQuery):
        return True
    if isinstance(query, NotQuery):
        return _acts(query.query)
    return isinstance(query, (AndQuery, OrQuery)) and (_acts(query.left) or _acts(query.right))


def _strange(query: Any, agent: Agent) -> str:
    """More about a belief of which there is none by that name: it is probably mistyped."""
    if not isinstance(query, TermQuery) or not isinstance(query.term, agentspeak.Literal):
        return ""
    name, values = str(query.term.functor), len(query.term.args)
    held = [group for kept in (agent.beliefs, agent.rules) for group in kept if kept[group]]
    others = [count for known, count in held if known == name]
    if values in others:
        return ""
    if others:
        return f", because it has {values} values and {name} is believed with {others[0]}"
    close = difflib.get_close_matches(name, sorted({known for known, _ in held}), n=1)
    meant = f"; {close[0]} is" if close else ""
    return f", because nothing called {name} is believed{meant}"

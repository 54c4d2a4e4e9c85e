"""An AgentSpeak agent that reports its beliefs, goals, intentions and fired plans.

Built by `plan_files`, read by `Deliberation` after each cycle. Nothing here runs per environment
step: a plan that fires adds its label to a list, and everything else is computed on request.
If no plan is applicable to a goal, the error names every relevant plan and why it was not chosen.
"""

from __future__ import annotations

import difflib
from functools import partial
from typing import TYPE_CHECKING, Any

import agentspeak
from agentspeak.runtime import (
    ActionQuery,
    Agent,
    AndQuery,
    Intention,
    NotQuery,
    OrQuery,
    TermQuery,
)

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.terms import format_belief, format_term
from spade_bdi_rl_worker.telemetry.sink import IntentionState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentspeak.parser import AstAgent, AstPlan
    from agentspeak.runtime import Plan

_MAX_BELIEFS_IN_ERROR = 12
_MAX_INTENTION_DEPTH = 10_000
_MAX_INTENTIONS = 1_000
"""Endless recursion in plans reaches these limits before it fills the memory."""


class ObservedAgent(Agent):
    """Records which plans fired, and explains why none is applicable to a goal."""

    def __init__(
        self, *args: Any, ast_agent: AstAgent | None = None, file: str = "", **kwargs: Any
    ) -> None:
        """`ast_agent` is the parsed `file`; its plans are added first, in order."""
        self.fired_plans: list[str] = []
        self._file = file
        self._unmatched_asts: list[AstPlan] = list(ast_agent.plans) if ast_agent is not None else []
        self._plan_asts: dict[Plan, AstPlan] = {}
        super().__init__(*args, **kwargs)

    def add_plan(self, plan: Plan) -> None:
        if self._unmatched_asts:
            self._plan_asts[plan] = self._unmatched_asts.pop(0)
        # Every plan body starts with a no-op instruction: it is replaced to record the plan.
        plan.body.f = partial(_record_fired_plan, plan_label(plan))
        super().add_plan(plan)

    def call(
        self,
        trigger: agentspeak.Trigger,
        goal_type: agentspeak.GoalType,
        term: Any,
        calling_intention: Any,
        delayed: bool = False,
    ) -> bool:
        try:
            return bool(super().call(trigger, goal_type, term, calling_intention, delayed))
        except agentspeak.AslError as error:
            if not str(error).startswith("no applicable plan"):
                raise
            goal = agentspeak.freeze(term, calling_intention.scope, {})
            raise self._no_applicable_plan_error(goal, str(error).rsplit(" ", 1)[-1]) from None
        except (ArithmeticError, RecursionError) as error:
            event = f"{trigger.value}{goal_type.value}{term.functor}/{len(term.args)}"
            raise self._evaluation_error(event, error) from None

    def format_beliefs(self) -> dict[Any, str]:
        """Return every belief with its text, sorted by text."""
        texts = {
            belief: format_belief(belief) for group in self.beliefs.values() for belief in group
        }
        return dict(sorted(texts.items(), key=lambda item: item[1]))

    def format_goals(self) -> tuple[str, ...]:
        """Return the goals of all intentions, without duplicates."""
        goals = [
            format_term(intention.head_term)
            for stack in self.intentions
            for intention in stack
            if intention.head_term is not None
        ]
        return tuple(dict.fromkeys(goals))

    def snapshot_intentions(self) -> tuple[IntentionState, ...]:
        return tuple(
            IntentionState(
                goal=format_term(stack[0].head_term),
                plan=getattr(stack[-1], "plan_label", ""),
                depth=len(stack),
            )
            for stack in self.intentions
            if stack and stack[0].head_term is not None
        )

    def _no_applicable_plan_error(self, goal: Any, event: str) -> WorkerError:
        beliefs = list(self.format_beliefs().values())
        more = len(beliefs) - _MAX_BELIEFS_IN_ERROR
        listed = ", ".join(beliefs[:_MAX_BELIEFS_IN_ERROR])
        listed += f" and {more} more" if more > 0 else ""
        reasons = [
            f" {self._describe_plan(plan)}:"
            f" {explain_not_applicable(plan, self._plan_asts.get(plan), goal, self)}."
            for plan in self._relevant_plans(event)
        ]
        if reasons:
            remedy = "Correct the context of a plan, or add a last plan without a context."
        else:
            trigger, file = event.partition("/")[0], self._file or "the plan file"
            remedy = f"Add a plan that starts with `{trigger}` to {file}."
        return WorkerError(
            f"No plan is applicable to the goal !{format_term(goal)}.{''.join(reasons)}"
            f" The agent's beliefs: {listed or 'none'}.",
            remedy=remedy,
        )

    def _evaluation_error(self, event: str, error: Exception) -> WorkerError:
        reason = "endless recursion" if isinstance(error, RecursionError) else str(error)
        plans = "; ".join(map(self._describe_plan, self._relevant_plans(event))) or "none"
        return WorkerError(
            f"A value or context of `{event}` cannot be evaluated: {reason}.",
            remedy=f"Correct it in its plans ({plans}), in the rules that their contexts use,"
            " or in the plan that adds the goal.",
        )

    def _relevant_plans(self, event: str) -> list[Plan]:
        """`event` in AgentSpeak's notation, such as `+!train/1`."""
        return [
            plan for key, plans in self.plans.items() for plan in plans
            if f"{key[0].value}{key[1].value}{key[2]}/{key[3]}" == event
        ]  # fmt: skip

    def _describe_plan(self, plan: Plan) -> str:
        """Return the plan's file, line and label."""
        location = _plan_location(self._plan_asts.get(plan))
        return f"{location} ({plan_label(plan)})" if location else plan_label(plan)


def plan_label(plan: Plan) -> str:
    """Return the plan's label (`@name`), or its triggering event."""
    if plan.annotation is not None:
        return str(plan.annotation.functor)
    arity = f"/{len(plan.head.args)}" if plan.head.args else ""
    return f"{plan.trigger.value}{plan.goal_type.value}{plan.head.functor}{arity}"


def _record_fired_plan(label: str, agent: ObservedAgent, intention: Any) -> bool:
    intention.plan_label = label
    agent.fired_plans.append(label)
    if len(agent.intentions) > _MAX_INTENTIONS:
        raise WorkerError(
            f"More than {_MAX_INTENTIONS:,} intentions are active at once: {label}.",
            remedy="`!!goal` adds an intention: use it once per plan, as the last step.",
        )
    if any(len(stack) > _MAX_INTENTION_DEPTH for stack in agent.intentions):
        raise WorkerError(
            f"Subgoals are nested {_MAX_INTENTION_DEPTH:,} levels deep, the last by {label}.",
            remedy="To repeat a goal, end the plan with `!!goal`, which starts a new intention,"
            " instead of `!goal`, which adds a subgoal.",
        )
    return True


def _plan_location(ast_plan: AstPlan | None) -> str:
    """Return the file and the line; empty for a plan that arrived in a message."""
    loc = getattr(ast_plan, "loc", None)
    return f"{loc.filename}, line {loc.lineno}" if loc else ""


def explain_not_applicable(plan: Plan, ast_plan: AstPlan | None, goal: Any, agent: Agent) -> str:
    """Return why the plan is not applicable to the goal, as a clause.

    The conditions of the plan's context are evaluated again, from left to right.
    """
    intention = Intention()
    if not any(_unify_head(plan, goal, intention)):
        return f"it is for {ast_plan.event.head if ast_plan else plan.head}"
    conditions = _split_conditions(plan.context)
    context = ast_plan.context if ast_plan is not None else None
    texts = _format_conditions(context) if context else []
    if len(texts) != len(conditions):
        return "its context does not hold"
    for count, condition in enumerate(conditions, start=1):
        if _has_action(condition):
            break
        if not any(_solve(conditions[:count], plan, goal, agent)):
            hint = _unknown_belief_hint(condition, agent)
            return f"`{texts[count - 1]}` does not hold{hint}"
    return "its context does not hold"


def _unify_head(plan: Plan, goal: Any, intention: Intention) -> Iterator[bool]:
    for _ in agentspeak.unify_annotated(plan.head, goal, intention.scope, intention.stack):
        yield True


def _solve(conditions: Sequence[Any], plan: Plan, goal: Any, agent: Agent) -> Iterator[bool]:
    """Yield once for each solution of all conditions."""
    query = conditions[0]
    for condition in conditions[1:]:
        query = AndQuery(query, condition)
    intention = Intention()
    for _ in _unify_head(plan, goal, intention):
        for _ in query.execute(agent, intention):
            yield True


def _split_conditions(query: Any) -> list[Any]:
    """Return the operands of `&`, from left to right."""
    if isinstance(query, AndQuery):
        return [*_split_conditions(query.left), *_split_conditions(query.right)]
    return [query]


def _format_conditions(context: Any) -> list[str]:
    """Return the source text of each operand of `&`, in the same order."""
    if getattr(context, "operator", None) == agentspeak.BinaryOp.op_and:
        return [*_format_conditions(context.left), *_format_conditions(context.right)]
    text = str(context)
    return [text[1:-1] if hasattr(context, "operator") else text]  # without AgentSpeak's brackets


def _has_action(query: Any) -> bool:
    """Whether evaluating the query runs an action, which must not happen twice."""
    if isinstance(query, ActionQuery):
        return True
    if isinstance(query, NotQuery):
        return _has_action(query.query)
    if isinstance(query, (AndQuery, OrQuery)):
        return _has_action(query.left) or _has_action(query.right)
    return False


def _unknown_belief_hint(query: Any, agent: Agent) -> str:
    """Return a hint if no belief has that name or arity: the name is probably mistyped."""
    if not isinstance(query, TermQuery) or not isinstance(query.term, agentspeak.Literal):
        return ""
    name, arity = str(query.term.functor), len(query.term.args)
    known = [key for base in (agent.beliefs, agent.rules) for key in base if base[key]]
    arities = [known_arity for known_name, known_arity in known if known_name == name]
    if arity in arities:
        return ""
    if arities:
        return f", because it has {arity} arguments and the belief {name} has {arities[0]}"
    close = difflib.get_close_matches(name, sorted({known_name for known_name, _ in known}), n=1)
    suggestion = f" (did you mean {close[0]}?)" if close else ""
    return f", because there is no belief {name}{suggestion}"

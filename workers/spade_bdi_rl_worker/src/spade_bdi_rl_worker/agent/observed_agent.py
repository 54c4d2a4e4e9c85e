"""An AgentSpeak agent whose mind can be looked at: beliefs, goals, intentions and fired plans.

Built by `plan_files`, read by `Deliberation` when the agent comes to rest. Nothing here runs per
environment step: a plan that fires adds its name to a list, and all else is looked at afterwards.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import agentspeak
from agentspeak.runtime import Agent

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.terms import belief_text, term_text
from spade_bdi_rl_worker.agent.unmet_conditions import place_of, why_not
from spade_bdi_rl_worker.telemetry.outlet import Intention

if TYPE_CHECKING:
    from agentspeak.parser import AstAgent, AstPlan
    from agentspeak.runtime import Plan

_BELIEFS_SHOWN = 12
_DEEPEST = 10_000
_MOST_INTENTIONS = 1_000
"""Of plans that go on for ever, these end a run before the machine's memory does."""


class ObservedAgent(Agent):
    """Tells which plans fired, and says what is missing when none is applicable."""

    def __init__(
        self, *args: Any, written: AstAgent | None = None, file: str = "", **kwargs: Any
    ) -> None:
        """`written` is what `file` says; its plans are added first, in their order."""
        self.fired: list[str] = []
        self._file = file
        self._unread: list[AstPlan] = list(written.plans) if written is not None else []
        self._written: dict[Plan, AstPlan] = {}
        super().__init__(*args, **kwargs)

    def add_plan(self, plan: Plan) -> None:
        if self._unread:
            self._written[plan] = self._unread.pop(0)
        # Every body begins with an instruction that does nothing: here it says that it was reached.
        plan.body.f = partial(_fire, plan_label(plan))
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
            raise self._no_plan(goal, str(error).rsplit(" ", 1)[-1]) from None
        except (ArithmeticError, RecursionError) as error:
            name = f"{trigger.value}{goal_type.value}{term.functor}/{len(term.args)}"
            raise self._not_worked_out(name, error) from None

    def beliefs_held(self) -> dict[Any, str]:
        """Every belief with its text, in order of their names."""
        held = {belief: belief_text(belief) for group in self.beliefs.values() for belief in group}
        return dict(sorted(held.items(), key=lambda item: item[1]))

    def goals(self) -> tuple[str, ...]:
        """What the agent wants to achieve now; a goal that several intentions have only once."""
        heads = [
            term_text(intention.head_term)
            for stack in self.intentions
            for intention in stack
            if intention.head_term is not None
        ]
        return tuple(dict.fromkeys(heads))

    def intentions_now(self) -> tuple[Intention, ...]:
        return tuple(
            Intention(
                goal=term_text(stack[0].head_term),
                plan=getattr(stack[-1], "plan_label", ""),
                depth=len(stack),
            )
            for stack in self.intentions
            if stack and stack[0].head_term is not None
        )

    def _no_plan(self, goal: Any, name: str) -> WorkerError:
        beliefs = list(self.beliefs_held().values())
        more = len(beliefs) - _BELIEFS_SHOWN
        shown = ", ".join(beliefs[:_BELIEFS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        reasons = [
            f" {self._named(plan)}: {why_not(plan, self._written.get(plan), goal, self)}."
            for plan in self._plans_for(name)
        ]
        if reasons:
            remedy = "Correct the condition, or add a plan without one as the last."
        else:
            beginning, where = name.partition("/")[0], self._file or "its file of plans"
            remedy = f"Add a plan that begins with `{beginning}` to {where}."
        return WorkerError(
            f"No plan is applicable to the goal !{term_text(goal)}.{''.join(reasons)}"
            f" The agent believes {shown or 'nothing'}.",
            remedy=remedy,
        )

    def _not_worked_out(self, name: str, error: Exception) -> WorkerError:
        said = "it leads back to itself" if isinstance(error, RecursionError) else str(error)
        places = "; ".join(map(self._named, self._plans_for(name))) or "none"
        return WorkerError(
            f"A value or condition of `{name}` cannot be worked out: {said}.",
            remedy=f"Correct it in its plans ({places}), in the rules that their conditions use,"
            " or where it is called for.",
        )

    def _plans_for(self, name: str) -> list[Plan]:
        """`name` as AgentSpeak has it, such as `+!train/1`."""
        return [
            plan for key, plans in self.plans.items() for plan in plans
            if f"{key[0].value}{key[1].value}{key[2]}/{key[3]}" == name
        ]  # fmt: skip

    def _named(self, plan: Plan) -> str:
        """Its file, its line and its label."""
        place = place_of(self._written.get(plan))
        return f"{place} ({plan_label(plan)})" if place else plan_label(plan)


def plan_label(plan: Plan) -> str:
    """The name that its author gave it (`@name`), or what it reacts to."""
    if plan.annotation is not None:
        return str(plan.annotation.functor)
    arity = f"/{len(plan.head.args)}" if plan.head.args else ""
    return f"{plan.trigger.value}{plan.goal_type.value}{plan.head.functor}{arity}"


def _fire(label: str, agent: ObservedAgent, intention: Any) -> bool:
    intention.plan_label = label
    agent.fired.append(label)
    if len(agent.intentions) > _MOST_INTENTIONS:
        raise WorkerError(
            f"More than {_MOST_INTENTIONS:,} intentions are under way at once: {label}.",
            remedy="`!!goal` begins one more intention: let a plan do so once, as its last step.",
        )
    if any(len(stack) > _DEEPEST for stack in agent.intentions):
        raise WorkerError(
            f"Goals lead to goals, {_DEEPEST:,} levels deep, the last by {label}.",
            remedy="To go on with the same goal, end the plan with `!!goal`, which begins anew,"
            " instead of `!goal`, which goes one level deeper.",
        )
    return True

"""Files of plans: those that come with the worker, and a person's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from agentspeak import Actions
    from agentspeak.runtime import Environment

    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent
    from spade_bdi_rl_worker.agent.plan_problems import PlanProblems, Problem

FOLDER = Path(__file__).with_name("plans")
SUFFIX = ".asl"


def bundled_plans() -> tuple[str, ...]:
    """The names of those that come with the worker."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}")))


def plan_file(given: str, bundled: str) -> Path:
    """The file to use: what was `given`, a path or the name of a bundled one; else `bundled`.

    Standard library only, so that a dry run can ask. Raises `WorkerError` when there is none.
    """
    if not given:
        return FOLDER / f"{bundled}{SUFFIX}"
    if given in bundled_plans():
        return FOLDER / f"{given}{SUFFIX}"
    path = Path(given).expanduser()
    if path.is_file():
        return path
    names = ", ".join(bundled_plans())
    hint = "" if path.is_absolute() else " A run has a folder of its own: give the whole path."
    raise WorkerError(
        f"`asl`: there is no file {given}.{hint}",
        remedy=f"Give the whole path of a file of plans, or one of the worker's own: {names}.",
    )


def load_plans(
    path: Path, environment: Environment, actions: Actions, problems: PlanProblems, name: str
) -> tuple[ObservedAgent, list[Problem]]:
    """An agent with the plans of the file, and remarks about them.

    Raises `WorkerError` with the place of each problem.
    """
    import agentspeak  # noqa: PLC0415 - this module is also asked where it is not installed
    import agentspeak.lexer  # noqa: PLC0415
    import agentspeak.parser  # noqa: PLC0415

    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent  # noqa: PLC0415
    from spade_bdi_rl_worker.agent.plan_problems import (  # noqa: PLC0415
        broken_plans,
        failed_plan,
    )

    problems.take()
    try:
        with path.open(encoding="utf-8") as source:
            log = agentspeak.Log(agentspeak.get_logger("agentspeak.parser"), 3)
            tokens = agentspeak.lexer.TokenStream(source, log)
            written = agentspeak.parser.parse(source.name, tokens, log)
            log.throw()
            observed = partial(ObservedAgent, written=written, file=source.name)
            _, agent = environment.build_agent_from_ast(source, written, actions, observed, name)
    except (agentspeak.AggregatedError, agentspeak.AslError) as error:
        found = problems.take()
        raise (broken_plans(path, found) if found else failed_plan(error, path, [])) from None
    except (OSError, UnicodeDecodeError) as error:
        raise WorkerError(
            f"`asl`: {path} cannot be read: {error}.",
            remedy="Save it as UTF-8 text, in a place that this user may read.",
        ) from None
    found = problems.take()
    if any(problem.is_error for problem in found):
        raise broken_plans(path, found)
    assert isinstance(agent, ObservedAgent)  # noqa: S101 - for the type checker
    return agent, found

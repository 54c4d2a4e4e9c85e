"""AgentSpeak files: those bundled with the worker, and a user's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from agentspeak import Actions
    from agentspeak.runtime import Environment

    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent
    from spade_bdi_rl_worker.agent.plan_diagnostics import DiagnosticCollector, PlanDiagnostic

FOLDER = Path(__file__).with_name("plans")
SUFFIX = ".asl"


def list_bundled_plans() -> tuple[str, ...]:
    """Return the names of the plan files bundled with the worker."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}")))


def find_plan_file(path_or_name: str, default: str) -> Path:
    """Return a user's file, or a bundled one by name; if empty, the bundled `default`.

    Standard library only, because dry runs use it. Raises `WorkerError` if there is no such file.
    """
    if not path_or_name:
        return FOLDER / f"{default}{SUFFIX}"
    bundled = list_bundled_plans()
    if path_or_name in bundled:
        return FOLDER / f"{path_or_name}{SUFFIX}"
    path = Path(path_or_name).expanduser()
    if path.is_file():
        return path
    hint = "" if path.is_absolute() else " A run has its own working directory."
    raise WorkerError(
        f"`asl`: there is no file {path_or_name}.{hint}",
        remedy="Enter the absolute path of an AgentSpeak file, or the name of a bundled one:"
        f" {', '.join(bundled)}.",
    )


def load_plans(
    path: Path,
    environment: Environment,
    actions: Actions,
    diagnostics: DiagnosticCollector,
    name: str,
) -> tuple[ObservedAgent, list[PlanDiagnostic]]:
    """Return an agent with the plans of the file, and warnings about them.

    Raises `WorkerError` with the location of each problem.
    """
    import agentspeak  # noqa: PLC0415 - dry runs use this module without the bundle
    import agentspeak.lexer  # noqa: PLC0415
    import agentspeak.parser  # noqa: PLC0415

    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent  # noqa: PLC0415
    from spade_bdi_rl_worker.agent.plan_diagnostics import (  # noqa: PLC0415
        invalid_plans_error,
        plan_failure_error,
    )

    diagnostics.drain()
    try:
        with path.open(encoding="utf-8") as source:
            log = agentspeak.Log(agentspeak.get_logger("agentspeak.parser"), 3)
            tokens = agentspeak.lexer.TokenStream(source, log)
            ast_agent = agentspeak.parser.parse(source.name, tokens, log)
            log.throw()
            agent_class = partial(ObservedAgent, ast_agent=ast_agent, file=source.name)
            _, agent = environment.build_agent_from_ast(
                source, ast_agent, actions, agent_class, name
            )
    except (agentspeak.AggregatedError, agentspeak.AslError) as error:
        problems = diagnostics.drain()
        if problems:
            raise invalid_plans_error(path, problems) from None
        raise plan_failure_error(error, path, []) from None
    except (OSError, UnicodeDecodeError) as error:
        raise WorkerError(
            f"`asl`: {path} cannot be read: {error}.",
            remedy="Save it as UTF-8 text in a folder that this user can read.",
        ) from None
    problems = diagnostics.drain()
    if any(problem.is_error for problem in problems):
        raise invalid_plans_error(path, problems)
    assert isinstance(agent, ObservedAgent)  # noqa: S101 - for the type checker
    return agent, problems

"""AgentSpeak's diagnostics about plans, with file and line, and the errors created from them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import agentspeak
import agentspeak.runtime

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

_LOGGERS = ("agentspeak.lexer", "agentspeak.parser", "agentspeak.runtime", "agentspeak.stdlib")
WORKER_ACTIONS = (
    ".learn(Episodes), .evaluate(Episodes), .explore(AtLeast), .consolidate, .save(Why),"
    " .share(Address) and .done(Why)"
)
_UNKNOWN_ACTION = "no such action"
_EXPLANATIONS = {
    "plan failure": "the test or action in this line failed",
    "term not ground": "a variable in this line has no value yet",
}


class PlanDiagnostic(NamedTuple):
    """A message of AgentSpeak, its location, and whether it is an error or a warning."""

    message: str
    file: str
    line: int
    is_error: bool

    @property
    def location(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


class DiagnosticCollector(logging.Handler):
    """Collects AgentSpeak's log records after `install`. One at a time: its loggers are global."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.pending: list[PlanDiagnostic] = []

    def install(self) -> None:
        for name in _LOGGERS:
            agentspeak.get_logger(name).handlers[:] = [self]
            logging.getLogger(name).propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        location: Any = getattr(record, "loc", None)
        message = record.getMessage()
        is_error = record.levelno >= logging.ERROR or message.startswith(_UNKNOWN_ACTION)
        file, line = (location.filename, location.lineno) if location else ("", 0)
        self.pending.append(PlanDiagnostic(message, str(file or ""), int(line or 0), is_error))

    def drain(self) -> list[PlanDiagnostic]:
        """Return the diagnostics since the last call."""
        diagnostics, self.pending = self.pending, []
        return diagnostics


def invalid_plans_error(path: Path, diagnostics: list[PlanDiagnostic]) -> WorkerError:
    """Return the error for a file that cannot be loaded, with the location of each problem."""
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.is_error] or diagnostics
    details = "; ".join(f"{error.location or path}: {error.message}" for error in errors)
    has_unknown_action = any(error.message.startswith(_UNKNOWN_ACTION) for error in errors)
    return WorkerError(
        f"The plans of {path.name} cannot be loaded. {details or 'The file cannot be parsed.'}.",
        remedy=f"The worker's own actions are {WORKER_ACTIONS}; AgentSpeak adds .send, .wait,"
        " .print and others."
        if has_unknown_action
        else "Correct that line, or leave `asl` empty to use the bundled plans.",
    )


def plan_failure_error(
    error: Exception, path: Path, diagnostics: list[PlanDiagnostic]
) -> WorkerError:
    """Return the error for plans that failed while they ran.

    AgentSpeak wraps the exception of an instruction; the user needs the original one and its line.
    """
    cause: BaseException = error
    if isinstance(error, agentspeak.AggregatedError) and error.__context__ is not None:
        cause = error.__context__
    located = [diagnostic for diagnostic in diagnostics if diagnostic.is_error and diagnostic.line]
    location = located[-1].location if located else path.name
    if isinstance(cause, WorkerError):
        return WorkerError(f"{location}: {cause.message}", remedy=cause.remedy)
    if isinstance(cause, agentspeak.AslError):
        explanation = _EXPLANATIONS.get(str(cause), str(cause))
        return WorkerError(
            f"{location}: the plan failed: {explanation}.",
            remedy="A plan fails when a test (`?belief`) or an action in it fails."
            " Test for it in the plan's context, or add another plan for that case."
            " Names of actions start with a dot: `.learn(10)`.",
        )
    if isinstance(cause, agentspeak.AggregatedError) and diagnostics:
        return WorkerError(
            f"{location}: the plan failed: {diagnostics[0].message}.",
            remedy="Correct the arguments of the action in that line.",
        )
    failure = WorkerError(
        f"{location}: an action failed: {type(cause).__name__}: {cause}",
        remedy="See the traceback in the run's log.",
    )
    failure.__cause__ = cause
    return failure

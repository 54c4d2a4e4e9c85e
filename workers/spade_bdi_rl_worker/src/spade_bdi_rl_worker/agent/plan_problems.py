"""What AgentSpeak says about plans, kept with file and line instead of coloured on a terminal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import agentspeak
import agentspeak.runtime

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

_LOGGERS = ("agentspeak.lexer", "agentspeak.parser", "agentspeak.runtime", "agentspeak.stdlib")
OWN_ACTIONS = (
    ".learn(Episodes), .evaluate(Episodes), .explore(AtLeast), .consolidate, .save(Why),"
    " .share(Address) and .done(Why)"
)
_UNKNOWN_ACTION = "no such action"
_IN_WORDS = {
    "plan failure": "what stands there does not hold",
    "term not ground": "a variable there has no value yet",
}


class Problem(NamedTuple):
    """One sentence of AgentSpeak's, where it stands, and whether it is more than a remark."""

    sentence: str
    file: str
    line: int
    is_error: bool

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


class PlanProblems(logging.Handler):
    """Collects what is said from `install` on. One at a time: the loggers are AgentSpeak's own."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[Problem] = []

    def install(self) -> None:
        for name in _LOGGERS:
            agentspeak.get_logger(name).handlers[:] = [self]
            logging.getLogger(name).propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        place: Any = getattr(record, "loc", None)
        sentence = record.getMessage()
        is_error = record.levelno >= logging.ERROR or sentence.startswith(_UNKNOWN_ACTION)
        file, line = (place.filename, place.lineno) if place else ("", 0)
        self.found.append(Problem(sentence, str(file or ""), int(line or 0), is_error))

    def take(self) -> list[Problem]:
        """What was said since the last time."""
        found, self.found = self.found, []
        return found


def broken_plans(path: Path, problems: list[Problem]) -> WorkerError:
    """The error for a file that cannot be used, with the place of each problem."""
    errors = [problem for problem in problems if problem.is_error] or problems
    said = "; ".join(f"{problem.place or path}: {problem.sentence}" for problem in errors)
    unknown = any(problem.sentence.startswith(_UNKNOWN_ACTION) for problem in errors)
    return WorkerError(
        f"The plans of {path.name} cannot be used. {said or 'They cannot be read.'}.",
        remedy=f"The worker's own actions are {OWN_ACTIONS}; AgentSpeak has .send, .wait, .print"
        " and others."
        if unknown
        else "Correct that line, or leave `asl` empty to use the plans that come with the worker.",
    )


def failed_plan(error: Exception, path: Path, problems: list[Problem]) -> WorkerError:
    """The error for plans that failed while they ran.

    AgentSpeak wraps what an instruction raised; what it was, and where, is what a person needs.
    """
    cause: BaseException = error
    if isinstance(error, agentspeak.AggregatedError) and error.__context__ is not None:
        cause = error.__context__
    placed = [problem for problem in problems if problem.is_error and problem.line]
    place = placed[-1].place if placed else path.name
    if isinstance(cause, WorkerError):
        return WorkerError(f"{place}: {cause.message}", remedy=cause.remedy)
    if isinstance(cause, agentspeak.AslError):
        said = _IN_WORDS.get(str(cause), str(cause))
        return WorkerError(
            f"{place}: the plan failed: {said}.",
            remedy="A plan fails when a test (`?belief`) or an action in it does."
            " Check for it in the plan's condition, or write another plan for that case."
            " Names of actions begin with a dot: `.learn(10)`.",
        )
    if isinstance(cause, agentspeak.AggregatedError) and problems:
        return WorkerError(
            f"{place}: the plan failed: {problems[0].sentence}.",
            remedy="Correct what is given to the action in that line.",
        )
    failure = WorkerError(
        f"{place}: an action failed: {type(cause).__name__}: {cause}",
        remedy="Look at the traceback in the run's log.",
    )
    failure.__cause__ = cause
    return failure

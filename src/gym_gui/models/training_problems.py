"""What is wrong with a draft, by section and field: found here, or said by the daemon."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gym_gui.models.training_fields import PLACES, SectionId
from mosaic.contract.descriptor import WorkerDescriptor, validate_params
from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError, Path, Problem
from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.run_config import ConfigError, load_run_config

Located = dict[SectionId | None, tuple[Problem, ...]]
"""Problems whose path is the field's name; those of no field of the form under None."""

_SAID = re.compile(r"`(?P<field>[A-Za-z_][\w.\-]*)`:? (?P<what>.+)")


def find_problems(document: Mapping[str, Any], worker: WorkerDescriptor) -> tuple[Problem, ...]:
    """Quick enough to be asked for at every key."""
    found: list[Problem] = []
    try:
        load_run_config(document)
    except ConfigError as error:
        found += error.problems
    params = document.get("params")
    algo = document.get("algo")
    if isinstance(params, dict):
        told = validate_params(worker, algo if isinstance(algo, str) else None, params)
        known = {problem.path for problem in found}
        found += [problem for problem in told.problems if problem.path not in known]
    return tuple(found)


def located(problems: Iterable[Problem]) -> Located:
    by_section: dict[SectionId | None, list[Problem]] = {}
    for problem in problems:
        section, name = _field_at(problem.path)
        path = problem.path if section is None else (name,)
        by_section.setdefault(section, []).append(dataclasses.replace(problem, path=path))
    return {section: tuple(found) for section, found in by_section.items()}


def problems_in(error: UserError) -> tuple[Problem, ...]:
    """The fields that a refusal names."""
    if isinstance(error, DocumentError):
        return error.problems
    lines = error.message.splitlines()
    if len(lines) == 1:
        return tuple(_problem_said(error.message, error.remedy))
    return tuple(problem for line in lines for problem in _problem_said(line, ""))


def problems_of(items: Iterable[PreflightItem]) -> tuple[Problem, ...]:
    """The fields that block, as preflight says."""
    return tuple(
        problem
        for item in items
        if item.status is CheckStatus.BLOCKING
        for problem in _problem_said(item.message, item.remedy)
    )


def _problem_said(text: str, remedy: str) -> Iterable[Problem]:
    if found := _SAID.search(text):
        yield Problem(tuple(found["field"].split(".")), "value", found["what"], remedy)


def _field_at(path: Path) -> tuple[SectionId | None, str]:
    if path[:1] == ("params",) and len(path) > 1:
        return "params", str(path[1])
    if path[:2] == ("bundle", "extras"):
        return "extras", ""
    for place in PLACES:
        if path[: len(place.path)] == place.path:
            return place.section, place.name
    return None, ""

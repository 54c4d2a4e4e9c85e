"""Validation problems of a draft by section and field, found locally or reported by the daemon."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gym_gui.training.model.training_fields import CONFIG_FIELDS, SectionId
from mosaic.contract.descriptor import WorkerDescriptor, validate_params
from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError, Path, Problem
from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.run_config import RunConfigError, load_run_config

SectionProblems = dict[SectionId | None, tuple[Problem, ...]]
"""By section, with the name of the field as path; None: problems without a field in the form."""

_MAX_TAG_LENGTH, _MAX_TAGS, _MAX_NOTE_LENGTH = 100, 50, 10_000
"""Limits of the daemon."""
_ANNOTATIONS = ("tags", "note")
_FIELD_MESSAGE = re.compile(r"`(?P<field>[A-Za-z_][\w.\-]*)`:? (?P<message>.+)")


def find_problems(document: Mapping[str, Any], worker: WorkerDescriptor) -> tuple[Problem, ...]:
    """Validate a configuration. Fast enough to run on every key press."""
    problems: list[Problem] = []
    try:
        load_run_config(document)
    except RunConfigError as error:
        problems += error.problems
    params = document.get("params")
    algo = document.get("algo")
    if isinstance(params, dict):
        checked = validate_params(worker, algo if isinstance(algo, str) else None, params)
        known = {problem.path for problem in problems}
        problems += [problem for problem in checked.problems if problem.path not in known]
    return tuple(problems)


def find_annotation_problems(tags: Sequence[str], note: str) -> tuple[Problem, ...]:
    """Validate tags and note here: the daemon receives them after the run was submitted."""
    problems: list[Problem] = []
    invalid = next(
        (tag for tag in tags if len(tag) > _MAX_TAG_LENGTH or not tag.isprintable()), None
    )
    if invalid is not None:
        message = f"contains an invalid tag: {invalid[:40]!r}."
        remedy = f"Use at most {_MAX_TAG_LENGTH} printable characters per tag."
        problems.append(Problem(("tags",), "value", message, remedy))
    elif len(tags) > _MAX_TAGS:
        message = f"contains {len(tags)} tags."
        problems.append(Problem(("tags",), "value", message, f"Use at most {_MAX_TAGS}."))
    if len(note) > _MAX_NOTE_LENGTH:
        message = f"has {len(note):,} characters."
        remedy = f"Use at most {_MAX_NOTE_LENGTH:,}."
        problems.append(Problem(("note",), "value", message, remedy))
    elif any(_is_control(character) for character in note):
        remedy = "Use plain text; new lines and tabs are allowed."
        problems.append(Problem(("note",), "value", "contains control characters.", remedy))
    return tuple(problems)


def group_by_section(problems: Iterable[Problem]) -> SectionProblems:
    by_section: dict[SectionId | None, list[Problem]] = {}
    for problem in problems:
        section, name = _field_at(problem.path)
        path = problem.path if section is None else (name,)
        # A field cannot be null, but it can be empty.
        remedy = problem.remedy.replace(" or null.", ", or leave it empty.")
        field_problem = dataclasses.replace(problem, path=path, remedy=remedy)
        by_section.setdefault(section, []).append(field_problem)
    return {section: tuple(problems) for section, problems in by_section.items()}


def problems_in_error(error: UserError) -> tuple[Problem, ...]:
    """The fields that an error of the daemon names."""
    if isinstance(error, DocumentError):
        return error.problems
    lines = error.message.splitlines()
    if len(lines) == 1:
        return tuple(_parse_problem(error.message, error.remedy))
    return tuple(problem for line in lines for problem in _parse_problem(line, ""))


def problems_in_preflight(items: Iterable[PreflightItem]) -> tuple[Problem, ...]:
    """The fields that blocking checks name."""
    return tuple(
        problem
        for item in items
        if item.status is CheckStatus.BLOCKING
        for problem in _parse_problem(item.message, item.remedy)
    )


def _is_control(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _parse_problem(text: str, remedy: str) -> Iterable[Problem]:
    if match := _FIELD_MESSAGE.search(text):
        yield Problem(tuple(match["field"].split(".")), "value", match["message"], remedy)


def _field_at(path: Path) -> tuple[SectionId | None, str]:
    if path[:1] == ("params",) and len(path) > 1:
        return "params", str(path[1])
    if len(path) == 1 and path[0] in _ANNOTATIONS:
        return "about", str(path[0])
    if path[:2] == ("bundle", "extras"):
        return "extras", ""
    for field in CONFIG_FIELDS:
        if path[: len(field.path)] == field.path:
            return field.section, field.name
    return None, ""

"""What is wrong with a draft, by section and field: found here, or said by the daemon."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gym_gui.training.model.training_fields import FIELD_POSITIONS, SectionId
from mosaic.contract.descriptor import WorkerDescriptor, validate_params
from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError, Path, Problem
from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.run_config import RunConfigError, load_run_config

Located = dict[SectionId | None, tuple[Problem, ...]]
"""Problems whose path is the field's name; those of no field of the form under None."""

_LONGEST_TAG, _MOST_TAGS, _LONGEST_NOTE = 100, 50, 10_000
"""As the daemon takes them."""
_ON_THE_RUN = ("tags", "note")
_SAID = re.compile(r"`(?P<field>[A-Za-z_][\w.\-]*)`:? (?P<what>.+)")


def find_problems(document: Mapping[str, Any], worker: WorkerDescriptor) -> tuple[Problem, ...]:
    """Quick enough to be asked for at every key."""
    found: list[Problem] = []
    try:
        load_run_config(document)
    except RunConfigError as error:
        found += error.problems
    params = document.get("params")
    algo = document.get("algo")
    if isinstance(params, dict):
        told = validate_params(worker, algo if isinstance(algo, str) else None, params)
        known = {problem.path for problem in found}
        found += [problem for problem in told.problems if problem.path not in known]
    return tuple(found)


def problems_of_annotations(tags: Sequence[str], note: str) -> tuple[Problem, ...]:
    """Of what is written on the run after it was submitted, when it is too late to refuse it."""
    found: list[Problem] = []
    bad = next((tag for tag in tags if len(tag) > _LONGEST_TAG or not tag.isprintable()), None)
    if bad is not None:
        message = f"has one that is not allowed: {bad[:40]!r}."
        remedy = f"A tag has up to {_LONGEST_TAG} characters that can be printed."
        found.append(Problem(("tags",), "value", message, remedy))
    elif len(tags) > _MOST_TAGS:
        remedy = f"A run has at most {_MOST_TAGS}; leave some out."
        found.append(Problem(("tags",), "value", f"are {len(tags)}.", remedy))
    if len(note) > _LONGEST_NOTE:
        remedy = f"Keep it below {_LONGEST_NOTE:,}; longer texts belong into a file."
        found.append(Problem(("note",), "value", f"has {len(note):,} characters.", remedy))
    elif any(_is_control(letter) for letter in note):
        remedy = "Give plain text; new lines and tabs are fine."
        found.append(Problem(("note",), "value", "has control characters.", remedy))
    return tuple(found)


def located(problems: Iterable[Problem]) -> Located:
    by_section: dict[SectionId | None, list[Problem]] = {}
    for problem in problems:
        section, name = _field_at(problem.path)
        path = problem.path if section is None else (name,)
        # A field has no null to give: nothing is typed.
        remedy = problem.remedy.replace(" or null.", ", or nothing.")
        told = dataclasses.replace(problem, path=path, remedy=remedy)
        by_section.setdefault(section, []).append(told)
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


def _is_control(letter: str) -> bool:
    return letter not in "\n\t" and unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")


def _problem_said(text: str, remedy: str) -> Iterable[Problem]:
    if found := _SAID.search(text):
        yield Problem(tuple(found["field"].split(".")), "value", found["what"], remedy)


def _field_at(path: Path) -> tuple[SectionId | None, str]:
    if path[:1] == ("params",) and len(path) > 1:
        return "params", str(path[1])
    if len(path) == 1 and path[0] in _ON_THE_RUN:
        return "about", str(path[0])
    if path[:2] == ("bundle", "extras"):
        return "extras", ""
    for position in FIELD_POSITIONS:
        if path[: len(position.path)] == position.path:
            return position.section, position.name
    return None, ""

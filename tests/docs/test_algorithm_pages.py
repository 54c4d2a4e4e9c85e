"""The pages of the algorithms match the learners."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from cleanrl_worker.learner_catalog import learner_names, read_learner

_ROOT = Path(__file__).parents[2]
_PAGES = _ROOT / "docs" / "algorithms"
_GUIDE = _ROOT / "docs" / "user-guide" / "training-cleanrl.md"
_WORKER = _ROOT / "workers" / "cleanrl_worker" / "src" / "cleanrl_worker"
_HEADINGS = [
    "Idea",
    "When to use it",
    "Parameters",
    "Vector environments",
    "Extras",
    "Recommended settings",
    "What to watch",
    "References",
]
_FAMILIES = ["toy-text", "classic-control", "box2d", "mujoco", "atari", "minigrid"]
_EXTRAS = {"atari", "mujoco", "minigrid", "video", "wandb", "hub"}
_NOTHING = "–"  # noqa: RUF001 - as tables for people have it
_RUN_FIELDS = {"total_timesteps"}
"""Recommended as well, and set by an option of their own."""

each_learner = pytest.mark.parametrize("name", learner_names())


def test_every_learner_has_a_page_and_every_page_a_learner() -> None:
    """The window's help is complete, and has no page without a learner."""
    pages = {path.stem for path in _PAGES.glob("*.md")} - {"README"}
    assert pages == set(learner_names())


def test_the_index_names_every_learner_with_its_actions() -> None:
    """So that an algorithm can be found by the action space of an environment."""
    index = (_PAGES / "README.md").read_text()
    rows = dict(re.findall(r"^\| \[\w+\]\((\w+)\.md\) \| (\w+) \|", index, re.MULTILINE))
    labels = {"discrete": "discrete", "box": "continuous"}
    actions = {name: labels[read_learner(name).action_spaces[0]] for name in learner_names()}
    assert rows == actions


@each_learner
def test_every_page_has_the_same_sections(name: str) -> None:
    """None of them is empty."""
    parts = _parts(name)
    assert list(parts) == _HEADINGS
    assert all(parts.values())


@each_learner
def test_parameters_on_a_page_are_those_of_the_learner(name: str) -> None:
    """Names and defaults match, and all parameters of the learner are listed."""
    documented = {_code(row[0]): _code(row[1]) for row in _table(name, "Parameters")}
    parameters = {each.name: _shown(each.default) for each in read_learner(name).parameters}
    assert documented == {name: parameters.get(name) for name in documented}
    assert _own_fields(name) - set(documented) - _RUN_FIELDS - {"env_id"} == set()


@each_learner
def test_recommended_settings_are_those_of_the_learner(name: str) -> None:
    """Every family has a row with exactly the settings that forms fill in."""
    recommended = _literal(name, "RECOMMENDED")
    rows = {_code(row[0]): row for row in _table(name, "Recommended settings")}
    assert list(rows) == _FAMILIES
    for family, (_, steps, settings, _) in rows.items():
        given = dict(recommended.get(family, {}))
        expected = f"{given.pop('total_timesteps'):,}" if "total_timesteps" in given else _NOTHING
        assert steps == expected, family
        written = dict(re.findall(r"`(\w+)=([^`]+)`", settings))
        assert written == {key: _shown(value) for key, value in given.items()}, family


@each_learner
def test_extras_and_curves_exist(name: str) -> None:
    """Pages name only existing extras and curves."""
    assert {_code(row[0]) for row in _table(name, "Extras")} <= _EXTRAS
    sources = [_WORKER / "learners" / f"{name}.py", _WORKER / "session" / "training_session.py"]
    drawn = "".join(path.read_text() for path in [*sources, *(_WORKER / "common").glob("*.py")])
    curves = [_code(row[0]) for row in _table(name, "What to watch")]
    names = [curve.rpartition("/")[2] for curve in curves]
    assert [each for each in names if not re.search(rf"\b{each}\b", drawn)] == []


@pytest.mark.parametrize("page", [*_PAGES.glob("*.md"), _GUIDE], ids=lambda page: page.stem)
def test_links_have_targets(page: Path) -> None:
    """Linked pages exist."""
    targets = re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text())
    assert [target for target in targets if not (page.parent / target).is_file()] == []


def _parts(name: str) -> dict[str, str]:
    """The text below each heading."""
    text = (_PAGES / f"{name}.md").read_text()
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return {heading: body.strip() for heading, _, body in (each.partition("\n") for each in parts)}


def _table(name: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without the first two."""
    rows = [line for line in _parts(name)[heading].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def _code(cell: str) -> str:
    """The text between backticks."""
    found = re.fullmatch(r"`([^`]+)`", cell)
    assert found, cell
    return found[1]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def _tree(name: str) -> ast.Module:
    return ast.parse((_WORKER / "learners" / f"{name}.py").read_text())


def _own_fields(name: str) -> set[str]:
    """The fields that the learner's `Args` defines itself."""
    [args] = [node for node in _tree(name).body if getattr(node, "name", "") == "Args"]
    assert isinstance(args, ast.ClassDef)
    targets = [node.target for node in args.body if isinstance(node, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _literal(name: str, constant: str) -> dict[str, dict[str, Any]]:
    for node in _tree(name).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == constant:
            return dict(ast.literal_eval(node.value))
    raise AssertionError(f"{name}.py has no {constant}")

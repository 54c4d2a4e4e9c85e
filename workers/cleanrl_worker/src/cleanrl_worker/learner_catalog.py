"""What learners there are, read from their files without importing them: no torch is needed."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path
from typing import Any

from cleanrl_worker.parameter_ranges import RANGES, UNKNOWN
from cleanrl_worker.upstream.args_dataclass import read_args_dataclass
from mosaic_worker import Algorithm, Parameter

_FOLDER = Path(__file__).parent / "learners"

SAID_ELSEWHERE = frozenset(
    {
        *("seed", "env_id", "total_timesteps"),  # fields of every run
        *("track", "wandb_project_name", "wandb_entity", "capture_video", "checkpoint_every"),
        *("exp_name", "cuda", "resume", "warm_start"),
    }
)
"""Flags of a script that a run's configuration has other fields for: artifacts, resources."""


def learner_names() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_"))


def read_learners() -> tuple[Algorithm, ...]:
    return tuple(read_learner(name) for name in learner_names())


def read_learner(name: str) -> Algorithm:
    """The algorithm in `learners/<name>.py`, in its own words."""
    path = _FOLDER / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    flags = read_args_dataclass(tree, [path.parents[2]])
    if flags is None:
        raise ValueError(f"{path.name} has no class Args")
    said = _literals(tree)
    summary = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
    return Algorithm(
        id=name,
        label=said.get("LABEL", name),
        doc=summary,
        parameters=tuple(
            _with_range(flag.parameter)
            for flag in flags.flags
            if flag.parameter.name not in SAID_ELSEWHERE
        ),
        action_spaces=tuple(said.get("ACTION_SPACES", ())),
        families=tuple(said.get("FAMILIES", ())),
        gpu="optional",
        recommended={
            family: {name: each for name, each in values.items() if name not in SAID_ELSEWHERE}
            for family, values in said.get("RECOMMENDED", {}).items()
        },
        page=_page(name),
    )


def _page(name: str) -> str:
    """What docs/algorithms says of it: in a checkout there, in an installed package beside us."""
    here = Path(__file__).resolve()
    for folder in (here.parents[4] / "docs" / "algorithms", here.parent / "pages"):
        with contextlib.suppress(OSError):
            return (folder / f"{name}.md").read_text(encoding="utf-8")
    return ""


def is_large(name: str) -> bool:
    """Whether its networks are worth several processors."""
    tree = ast.parse((_FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return bool(_literals(tree).get("LARGE_NETWORK", False))


def _literals(tree: ast.Module) -> dict[str, Any]:
    """The constants of a module that are written out."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def _with_range(parameter: Parameter) -> Parameter:
    known = RANGES.get(parameter.name, UNKNOWN)
    search = known.search
    if search is not None and not search[0] <= (parameter.default or 0) <= search[1]:
        search = None  # to this learner the name means something else
    return parameter._replace(
        min=known.low,
        max=known.high,
        unit=known.unit,
        group=known.group,
        search=search,
        log=known.log and search is not None,
    )

"""The catalog of learners, read from their files without importing them (or torch).

Also the ranges of their flags: valid values, search range in a sweep, and group in a form.
"""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path
from typing import Any, NamedTuple

from cleanrl_worker.upstream.args_dataclass import read_args_dataclass
from mosaic_worker import Algorithm, Parameter

_FOLDER = Path(__file__).parent / "learners"

RUN_CONFIG_FLAGS = frozenset(
    {
        *("seed", "env_id", "total_timesteps"),  # fields of every run
        *("track", "wandb_project_name", "wandb_entity", "capture_video", "checkpoint_every"),
        *("exp_name", "cuda", "resume", "warm_start"),
    }
)
"""Flags that are fields of a run's configuration (artifacts, resources), not parameters."""

OPTIMIZATION, ALGORITHM, EXPLORATION = (
    "Optimization",
    "Algorithm",
    "Exploration",
)
ENVIRONMENTS, OUTPUT, MACHINE = "Environments", "Output", "Machine"


class FlagRange(NamedTuple):
    """Bounds of a flag, its search range in a sweep, and its group in a form."""

    group: str
    low: float | None = None
    high: float | None = None
    search: tuple[float, float] | None = None
    log: bool = False
    unit: str = ""


_RATE = FlagRange(OPTIMIZATION, 0.0, 1.0, (1e-5, 1e-2), log=True)
_FRACTION = FlagRange(ALGORITHM, 0.0, 1.0)

_RANGES: dict[str, FlagRange] = {
    # A flag has the same meaning in every learner, so its range is declared once.
    # Optimization
    "learning_rate": _RATE,
    "policy_lr": _RATE,
    "q_lr": _RATE,
    "actor_learning_rate": _RATE,
    "anneal_lr": FlagRange(OPTIMIZATION),
    "max_grad_norm": FlagRange(OPTIMIZATION, 0.0, None, (0.1, 20.0), log=True),
    "batch_size": FlagRange(OPTIMIZATION, 1, None, (32, 512), log=True),
    "num_minibatches": FlagRange(OPTIMIZATION, 1, None, (1, 64), log=True),
    "update_epochs": FlagRange(OPTIMIZATION, 1, None, (1, 20)),
    "train_frequency": FlagRange(OPTIMIZATION, 1, None, (1, 32), log=True, unit="steps"),
    "policy_frequency": FlagRange(OPTIMIZATION, 1, None, unit="updates"),
    "update_frequency": FlagRange(OPTIMIZATION, 1, None, unit="steps"),
    "target_network_frequency": FlagRange(
        OPTIMIZATION, 1, None, (100, 5000), log=True, unit="steps"
    ),
    "learning_starts": FlagRange(OPTIMIZATION, 0, None, unit="steps"),
    "buffer_size": FlagRange(OPTIMIZATION, 1, None, unit="steps"),
    # Algorithm
    "gamma": FlagRange(ALGORITHM, 0.0, 1.0, (0.9, 0.9999)),
    "gae_lambda": FlagRange(ALGORITHM, 0.0, 1.0, (0.8, 1.0)),
    "q_lambda": FlagRange(ALGORITHM, 0.0, 1.0, (0.3, 1.0)),
    "tau": FlagRange(ALGORITHM, 0.0, 1.0, (0.001, 1.0), log=True),
    "num_steps": FlagRange(ALGORITHM, 1, None, (32, 2048), log=True, unit="steps"),
    "clip_coef": FlagRange(ALGORITHM, 0.0, None, (0.05, 0.4)),
    "clip_vloss": FlagRange(ALGORITHM),
    "norm_adv": FlagRange(ALGORITHM),
    "ent_coef": FlagRange(ALGORITHM, 0.0, None, (1e-8, 0.1), log=True),
    "vf_coef": FlagRange(ALGORITHM, 0.0, None, (0.1, 1.0)),
    "target_kl": FlagRange(ALGORITHM, 0.0),
    "alpha": FlagRange(ALGORITHM, 0.0),
    "autotune": FlagRange(ALGORITHM),
    "target_entropy_scale": FlagRange(ALGORITHM, 0.0, 1.0, (0.3, 0.98)),
    "rpo_alpha": FlagRange(ALGORITHM, 0.0, None, (0.01, 0.5), log=True),
    "n_atoms": FlagRange(ALGORITHM, 2),
    "v_min": FlagRange(ALGORITHM),
    "v_max": FlagRange(ALGORITHM),
    "n_step": FlagRange(ALGORITHM, 1, None, (1, 10)),
    "policy_noise": FlagRange(ALGORITHM, 0.0),
    "noise_clip": FlagRange(ALGORITHM, 0.0),
    "prioritized_replay_alpha": _FRACTION,
    "prioritized_replay_beta": _FRACTION,
    "prioritized_replay_eps": FlagRange(ALGORITHM, 0.0),
    # Exploration
    "exploration_noise": FlagRange(EXPLORATION, 0.0, None, (0.01, 0.5), log=True),
    "start_e": FlagRange(EXPLORATION, 0.0, 1.0),
    "end_e": FlagRange(EXPLORATION, 0.0, 1.0, (0.005, 0.2), log=True),
    "exploration_fraction": FlagRange(EXPLORATION, 0.0, 1.0, (0.05, 0.8)),
    # Environments
    "num_envs": FlagRange(ENVIRONMENTS, 1, 1024, (1, 32), log=True),
    # Output
    "save_model": FlagRange(OUTPUT),
    "checkpoint_buffer_mb": FlagRange(OUTPUT, 0, None, unit="MB"),
    "upload_model": FlagRange(OUTPUT),
    "hf_entity": FlagRange(OUTPUT),
    # Machine
    "torch_deterministic": FlagRange(MACHINE),
    "torch_threads": FlagRange(MACHINE, 0, 1024, unit="threads"),
}

_DEFAULT_RANGE = FlagRange(ALGORITHM)


def learner_names() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_"))


def read_learners() -> tuple[Algorithm, ...]:
    return tuple(read_learner(name) for name in learner_names())


def read_learner(name: str) -> Algorithm:
    """Return the algorithm of `learners/<name>.py`; its summary is the module's docstring."""
    path = _FOLDER / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    flags = read_args_dataclass(tree, [path.parents[2]])
    if flags is None:
        raise ValueError(f"{path.name} has no class Args")
    constants = _literals(tree)
    summary = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
    return Algorithm(
        id=name,
        label=constants.get("LABEL", name),
        doc=summary,
        parameters=tuple(
            _with_range(flag.parameter)
            for flag in flags.flags
            if flag.parameter.name not in RUN_CONFIG_FLAGS
        ),
        action_spaces=tuple(constants.get("ACTION_SPACES", ())),
        families=tuple(constants.get("FAMILIES", ())),
        gpu="optional",
        recommended={
            family: {flag: value for flag, value in values.items() if flag not in RUN_CONFIG_FLAGS}
            for family, values in constants.get("RECOMMENDED", {}).items()
        },
        page=_page(name),
    )


def _page(name: str) -> str:
    """Return the page in docs/algorithms: in a checkout, or in an installed package."""
    here = Path(__file__).resolve()
    for folder in (here.parents[4] / "docs" / "algorithms", here.parent / "pages"):
        with contextlib.suppress(OSError):
            return (folder / f"{name}.md").read_text(encoding="utf-8")
    return ""


def is_large(name: str) -> bool:
    """Whether its networks benefit from several CPUs."""
    tree = ast.parse((_FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return bool(_literals(tree).get("LARGE_NETWORK", False))


def _literals(tree: ast.Module) -> dict[str, Any]:
    """Return the module-level constants that are literals."""
    literals = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                literals[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return literals


def _with_range(parameter: Parameter) -> Parameter:
    flag_range = _RANGES.get(parameter.name, _DEFAULT_RANGE)
    search = flag_range.search
    if search is not None and not search[0] <= (parameter.default or 0) <= search[1]:
        search = None  # the flag has another meaning in this learner
    return parameter._replace(
        min=flag_range.low,
        max=flag_range.high,
        unit=flag_range.unit,
        group=flag_range.group,
        search=search,
        log=flag_range.log and search is not None,
    )

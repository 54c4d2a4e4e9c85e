"""What a sweep is to do, and how that stands in its run's configuration.

How to search (sampler, pruner, trials …) are parameters of the sweep worker, typed by its
descriptor. What to search stands in `metadata.sweep`: `base`, the configuration that all trials
share, and `space`, the values to try.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from mosaic.client.sweeps.search_space import Searched
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig, load_run_config

SWEEP_WORKER = "sweep_worker"
SWEEP_ALGORITHM = "optuna"
BEST_FILE = "best.json"
"""In a sweep's directory: the configuration of its best trial so far."""
_KEY = "sweep"
_ALWAYS = ("worker", "env_id")
_DEFAULTS = {
    field: value
    for field, value in msgspec.to_builtins(TrainRunConfig(worker="any", env_id="Any-v0")).items()
    if field not in _ALWAYS
}
"""What need not be written: the configuration of the trials is for people to read, too."""


class SweepPlan(msgspec.Struct, kw_only=True, frozen=True):
    """The trials' common configuration and the values to try."""

    base: dict[str, Any]
    space: dict[str, Searched]


def sweep_config(
    base: TrainRunConfig, space: Mapping[str, Searched], params: Mapping[str, Any]
) -> TrainRunConfig:
    """The run that sweeps: `base` is what its trials have in common."""
    document = {
        field: value
        for field, value in msgspec.to_builtins(base).items()
        if field not in _DEFAULTS or value != _DEFAULTS[field]
    }
    name = document.pop("run_name", None)
    return load_run_config(
        {
            "run_name": name,
            "worker": SWEEP_WORKER,
            "mode": "sweep",
            "algo": SWEEP_ALGORITHM,
            "env_id": base.env_id,
            "seed": base.seed,
            "priority": base.priority,
            "params": dict(params),
            "telemetry": {"steps": "off"},
            "artifacts": {"tensorboard": {"enabled": False}},
            "metadata": {
                _KEY: {"base": document, "space": msgspec.to_builtins(dict(space))},
            },
        }
    )


def plan_in(config: Mapping[str, Any]) -> SweepPlan:
    """The plan in a sweep's configuration."""
    metadata = config.get("metadata")
    try:
        found = metadata.get(_KEY) if isinstance(metadata, dict) else None
        return msgspec.convert(found, SweepPlan)
    except msgspec.ValidationError as error:
        raise UserError(
            f"The configuration holds no sweep in metadata.{_KEY}: {error}.",
            remedy="Start it with `mosaic sweep WORKER`, which writes it.",
            code="C232",
        ) from error


def trial_config(
    plan: SweepPlan, values: Mapping[str, Any], *, sweep_run: str, trial: int, repeat: int
) -> dict[str, Any]:
    """The configuration of one child run: number `repeat` of the runs of `trial`."""
    base = plan.base
    name = f"trial {trial}" if repeat == 0 else f"trial {trial}, seed {repeat + 1}"
    return {
        **base,
        "run_name": name,
        "params": {**base.get("params", {}), **values},
        "seed": int(base.get("seed", 1)) + repeat,
        "parent_run": sweep_run,
        "metadata": {**base.get("metadata", {}), "trial": trial, "repeat": repeat},
    }

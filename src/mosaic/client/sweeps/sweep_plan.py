"""SweepPlan: what a sweep searches, stored in the configuration of its run.

How to search (sampler, pruner, number of trials …) are parameters of the sweep worker. What to
search is in `metadata.sweep`: `base`, the configuration that all trials share, and `space`, the
search space.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.client.former_names import resolve_former_names
from mosaic.client.sweeps.search_space import SearchDistribution
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig, load_run_config

SWEEP_WORKER = "sweep_worker"
SWEEP_ALGORITHM = "optuna"
BEST_FILE = "best.json"
"""In a sweep's directory: the configuration of its best trial so far."""
_METADATA_KEY = "sweep"
_REQUIRED_FIELDS = ("worker", "env_id")
_DEFAULTS = {
    field: value
    for field, value in msgspec.to_builtins(TrainRunConfig(worker="any", env_id="Any-v0")).items()
    if field not in _REQUIRED_FIELDS
}
"""Default values are omitted, to keep the configuration of the trials readable."""


class SweepPlan(msgspec.Struct, kw_only=True, frozen=True):
    """The common configuration of the trials and the search space."""

    base: dict[str, Any]
    space: dict[str, SearchDistribution]


def make_sweep_config(
    base: TrainRunConfig, space: Mapping[str, SearchDistribution], params: Mapping[str, Any]
) -> TrainRunConfig:
    """Return the configuration of a sweep run; `base` is what its trials have in common."""
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
                _METADATA_KEY: {"base": document, "space": msgspec.to_builtins(dict(space))},
            },
        }
    )


def read_sweep_plan(config: Mapping[str, Any]) -> SweepPlan:
    """Return the plan in the configuration of a sweep run."""
    metadata = config.get("metadata")
    try:
        document = metadata.get(_METADATA_KEY) if isinstance(metadata, dict) else None
        return msgspec.convert(document, SweepPlan)
    except msgspec.ValidationError as error:
        raise UserError(
            f"metadata.{_METADATA_KEY} of the configuration is not a valid sweep: {error}.",
            remedy="Start sweeps with `mosaic sweep WORKER`, which writes this field.",
            code="C232",
        ) from error


def make_trial_config(
    plan: SweepPlan, values: Mapping[str, Any], *, sweep_run: str, trial: int, repeat: int
) -> dict[str, Any]:
    """Return the configuration of one child run: repetition `repeat` of `trial`."""
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


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)

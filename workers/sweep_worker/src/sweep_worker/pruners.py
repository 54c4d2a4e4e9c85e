"""Optuna's pruners by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    PercentilePruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)

from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping


def make_pruner(params: Mapping[str, Any], first: int, total: int | None) -> BasePruner:
    """The pruner that the parameters name; `first` is the step of the first report of a trial,
    `total` that of the last where it is known.
    """
    startup, warmup = params["startup_trials"], params["warmup_steps"]
    match params["pruner"]:
        case "median":
            return MedianPruner(n_startup_trials=startup, n_warmup_steps=warmup)
        case "percentile":
            return PercentilePruner(
                params["percentile"], n_startup_trials=startup, n_warmup_steps=warmup
            )
        case "successive_halving":
            return SuccessiveHalvingPruner(
                min_resource=first, reduction_factor=params["reduction_factor"]
            )
        case "hyperband":
            return HyperbandPruner(
                min_resource=first,
                max_resource="auto" if total is None else total,
                reduction_factor=params["reduction_factor"],
            )
        case "threshold":
            return _threshold(params, warmup)
        case _:
            return NopPruner()


def _threshold(params: Mapping[str, Any], warmup: int) -> ThresholdPruner:
    lower, upper = params["lower"], params["upper"]
    if lower is None and upper is None:
        raise WorkerError(
            "The pruner threshold has no threshold.", remedy="Set `lower`, `upper`, or both."
        )
    return ThresholdPruner(lower=lower, upper=upper, n_warmup_steps=warmup)

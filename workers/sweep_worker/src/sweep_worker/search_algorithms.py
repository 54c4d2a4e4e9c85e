"""Optuna's samplers and pruners by name, and search spaces as Optuna's distributions."""

from __future__ import annotations

import itertools
import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    PercentilePruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)
from optuna.samplers import (
    BaseSampler,
    CmaEsSampler,
    GPSampler,
    GridSampler,
    QMCSampler,
    RandomSampler,
    TPESampler,
)

from mosaic.client.sweeps.search_space import CategoricalChoices, NumericRange
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic.client.sweeps.search_space import SearchDistribution

_PACKAGES = {"cmaes": ("cmaes",), "qmc": ("scipy",), "gp": ("scipy", "torch")}
"""Additional packages that some samplers need."""


def make_sampler(
    params: Mapping[str, Any], space: Mapping[str, SearchDistribution], seed: int
) -> BaseSampler:
    """The sampler named in the parameters."""
    name = params["sampler"]
    missing = [package for package in _PACKAGES.get(name, ()) if find_spec(package) is None]
    if missing:
        raise WorkerError(
            f"The sampler {name} needs {' and '.join(missing)}, which the bundle sweep_worker"
            " does not have.",
            remedy="Choose tpe, random or grid.",
        )
    match name:
        case "random":
            return RandomSampler(seed=seed)
        case "grid":
            return _EndlessGridSampler(make_grid(space, params["grid_points"]), seed=seed)
        case "cmaes":
            return CmaEsSampler(seed=seed)
        case "qmc":
            return QMCSampler(seed=seed)
        case "gp":
            return GPSampler(seed=seed)
        case _:
            # Concurrent trials avoid the values of each other.
            return TPESampler(seed=seed, constant_liar=params["parallel"] > 1)


def make_distributions(space: Mapping[str, SearchDistribution]) -> dict[str, BaseDistribution]:
    """The distribution of each parameter."""
    return {name: _distribution(values) for name, values in space.items()}


def make_grid(space: Mapping[str, SearchDistribution], points: int) -> dict[str, list[Any]]:
    """The grid values of each parameter; a range is divided into `points` values."""
    return {name: _grid_values(values, points) for name, values in space.items()}


def grid_size(space: Mapping[str, SearchDistribution], points: int) -> int:
    return math.prod(len(values) for values in make_grid(space, points).values())


class _EndlessGridSampler(GridSampler):
    def after_trial(self, *_: Any) -> None:
        """Do nothing: Optuna would stop its loop here, but the sweep has its own."""


def _distribution(values: SearchDistribution) -> BaseDistribution:
    if isinstance(values, CategoricalChoices):
        return CategoricalDistribution(values.choices)
    if values.integer:
        step = 1 if values.step is None else int(values.step)
        return IntDistribution(int(values.low), int(values.high), log=values.log, step=step)
    return FloatDistribution(values.low, values.high, log=values.log, step=values.step)


def _grid_values(values: SearchDistribution, points: int) -> list[Any]:
    if isinstance(values, CategoricalChoices):
        return list(values.choices)
    if values.step is not None:
        steps = itertools.count()
        stepped = (values.low + number * values.step for number in steps)
        return list(itertools.takewhile(lambda value: value <= values.high, stepped))
    spaced = [_interpolate(values, number / (points - 1)) for number in range(points)]
    return sorted({round(value) for value in spaced}) if values.integer else spaced


def _interpolate(values: NumericRange, fraction: float) -> float:
    """Interpolate between low and high, exact at both ends."""
    low, high = values.low, values.high
    if fraction in (0.0, 1.0):
        return high if fraction else low
    return low * (high / low) ** fraction if values.log else low + (high - low) * fraction


def make_pruner(params: Mapping[str, Any], first: int, total: int | None) -> BasePruner:
    """The pruner named in the parameters.

    `first` is the step of the first report of a trial, `total` that of the last if it is known.
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
            return _make_threshold_pruner(params, warmup)
        case _:
            return NopPruner()


def _make_threshold_pruner(params: Mapping[str, Any], warmup: int) -> ThresholdPruner:
    lower, upper = params["lower"], params["upper"]
    if lower is None and upper is None:
        raise WorkerError(
            "The threshold pruner has no limits.", remedy="Set `lower`, `upper`, or both."
        )
    return ThresholdPruner(lower=lower, upper=upper, n_warmup_steps=warmup)

"""Optuna's samplers by name, and the values to try as Optuna's distributions."""

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
"""What some samplers need beyond Optuna itself."""


def make_sampler(
    params: Mapping[str, Any], space: Mapping[str, SearchDistribution], seed: int
) -> BaseSampler:
    """The sampler that the parameters name."""
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
            return _Grid(grid_of(space, params["grid_points"]), seed=seed)
        case "cmaes":
            return CmaEsSampler(seed=seed)
        case "qmc":
            return QMCSampler(seed=seed)
        case "gp":
            return GPSampler(seed=seed)
        case _:
            # Of trials that run at once, each keeps away from where the others already look.
            return TPESampler(seed=seed, constant_liar=params["parallel"] > 1)


def distributions_of(space: Mapping[str, SearchDistribution]) -> dict[str, BaseDistribution]:
    """Where the values of each parameter come from."""
    return {name: _distribution(values) for name, values in space.items()}


def grid_of(space: Mapping[str, SearchDistribution], points: int) -> dict[str, list[Any]]:
    """The values of each parameter on a grid; a range is divided into `points` values."""
    return {name: _points(values, points) for name, values in space.items()}


def grid_size(space: Mapping[str, SearchDistribution], points: int) -> int:
    return math.prod(len(values) for values in grid_of(space, points).values())


class _Grid(GridSampler):
    def after_trial(self, *_: Any) -> None:
        """Nothing: Optuna would end its own loop here, and the sweep has one of its own."""


def _distribution(values: SearchDistribution) -> BaseDistribution:
    if isinstance(values, CategoricalChoices):
        return CategoricalDistribution(values.choices)
    if values.integer:
        step = 1 if values.step is None else int(values.step)
        return IntDistribution(int(values.low), int(values.high), log=values.log, step=step)
    return FloatDistribution(values.low, values.high, log=values.log, step=values.step)


def _points(values: SearchDistribution, points: int) -> list[Any]:
    if isinstance(values, CategoricalChoices):
        return list(values.choices)
    if values.step is not None:
        steps = itertools.count()
        stepped = (values.low + number * values.step for number in steps)
        return list(itertools.takewhile(lambda value: value <= values.high, stepped))
    spread = [_between(values, number / (points - 1)) for number in range(points)]
    return sorted({round(value) for value in spread}) if values.integer else spread


def _between(values: NumericRange, share: float) -> float:
    """`share` of the way from low to high, neither of which may be left by rounding."""
    low, high = values.low, values.high
    if share in (0.0, 1.0):
        return high if share else low
    return low * (high / low) ** share if values.log else low + (high - low) * share

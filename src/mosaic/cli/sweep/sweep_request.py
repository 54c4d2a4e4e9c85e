"""From the options of `mosaic sweep` to the configuration of a sweep."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.own_scripts import described
from mosaic.cli.settings_text import split_settings, typed_settings
from mosaic.cli.sweep.sweep_reference import find_sweep
from mosaic.cli.train_config import TrainOptions, build_config
from mosaic.client.presets import load_preset
from mosaic.client.sweeps.search_space import Searched, SearchSpaceError, described_space
from mosaic.client.sweeps.space_input import read_searches, read_space_file
from mosaic.client.sweeps.sweep_plan import SWEEP_ALGORITHM, SWEEP_WORKER, sweep_config
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.layout import Home
from mosaic.contract.run_config import RunConfigError, TrainRunConfig, load_run_config

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


class SearchOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How to search, as given on the command line; None and empty mean: not given."""

    trials: int | None = None
    sampler: str | None = None
    pruner: str | None = None
    metric: str | None = None
    direction: str | None = None
    summary: str | None = None
    parallel: int | None = None
    seeds: int | None = None
    timeout_s: float | None = None
    preset: str | None = None
    """Under which name the best configuration is kept."""

    def given(self) -> dict[str, Any]:
        return {name: v for name, v in msgspec.structs.asdict(self).items() if v is not None}


class SpaceOptions(msgspec.Struct, kw_only=True, frozen=True):
    """What to search."""

    searches: tuple[str, ...] = ()
    space_file: str | None = None


class Asked(msgspec.Struct, kw_only=True, frozen=True):
    """A sweep, and what its trials have in common."""

    config: TrainRunConfig
    base: TrainRunConfig | None = None


def new_sweep(
    client: "TrainerClient",
    home: Home,
    worker: str,
    trial_options: TrainOptions,
    begin_with: str | None,
    space_options: SpaceOptions,
    search: SearchOptions,
    settings: tuple[str, ...],
) -> Asked:
    """A sweep that begins from nothing."""
    preset = load_preset(home, begin_with) if begin_with else None
    script = trial_options.script or (preset or {}).get("script")
    descriptor = described(client, worker, script)
    base = build_config(trial_options, descriptor, preset)
    space = _space(space_options, _algorithm(descriptor, base))
    fixed = split_settings(trial_options.settings, "--set")
    both = sorted(space.keys() & fixed.keys())
    if both:
        raise click.UsageError(f"{', '.join(both)}: either fix it with --set, or search it.")
    params = _params(client, search, settings)
    try:
        return Asked(config=sweep_config(base, space, params), base=base)
    except RunConfigError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error


def resumed_sweep(
    client: "TrainerClient", reference: str, search: SearchOptions, settings: tuple[str, ...]
) -> Asked:
    """A sweep that goes on from where an earlier one ended."""
    earlier = client.run(find_sweep(client, reference))
    config = load_run_config(earlier.config_json)
    if config.worker != SWEEP_WORKER:
        raise click.UsageError(f"Run {earlier.run.run_id} is no sweep.")
    if not earlier.run.state.is_final:
        raise click.UsageError(
            f"The sweep {earlier.run.run_id} is still {earlier.run.state}. Let it go on, or stop"
            " it first."
        )
    params = {**config.params, **_params(client, search, settings)}
    params["resume_from"] = earlier.run.run_id
    return Asked(config=msgspec.structs.replace(config, params=params))


def _algorithm(descriptor: WorkerDescriptor, base: TrainRunConfig) -> Algorithm:
    if base.script and len(descriptor.algorithms) == 1:
        return descriptor.algorithms[0]
    algorithm = descriptor.algorithm(base.algo or "")
    if algorithm is None:
        raise click.UsageError("What the script takes is not known here; give its whole path.")
    return algorithm


def _space(options: SpaceOptions, algorithm: Algorithm) -> Mapping[str, Searched]:
    parameters = algorithm.parameters
    try:
        space: dict[str, Searched] = {}
        if options.space_file:
            space |= read_space_file(Path(options.space_file), parameters)
        space |= read_searches(options.searches, parameters)
    except SearchSpaceError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error
    space = space or described_space(algorithm)
    if not space:
        raise click.UsageError(
            f"{algorithm.id} names no parameter that is worth searching."
            " Say which: --search name=low..high."
        )
    return space


def _params(
    client: "TrainerClient", search: SearchOptions, settings: tuple[str, ...]
) -> dict[str, Any]:
    """The parameters of the sweep itself, checked."""
    descriptor = client.describe(SWEEP_WORKER)
    algorithm = descriptor.algorithm(SWEEP_ALGORITHM)
    parameters = algorithm.parameters if algorithm else ()
    given = typed_settings(split_settings(settings, "--option"), parameters)
    params = {**given, **search.given()}
    problems = validate_params(descriptor, SWEEP_ALGORITHM, params).problems
    if problems:
        error = RunConfigError(problems)
        raise click.UsageError(f"{error.message} {error.remedy}")
    return params

"""Sweep configurations built from the options of `mosaic sweep`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.assignments import parse_assignments, parse_parameters
from mosaic.cli.connection import describe_worker
from mosaic.cli.options import IMPORTED_CODE_REMEDY
from mosaic.cli.train_config import TrainOptions, build_config
from mosaic.client.presets import load_preset
from mosaic.client.run_reference import LAST
from mosaic.client.sweeps.search_space import (
    SearchDistribution,
    SearchSpaceError,
    default_search_space,
)
from mosaic.client.sweeps.space_input import parse_search_options, read_search_space_file
from mosaic.client.sweeps.sweep_plan import SWEEP_ALGORITHM, SWEEP_WORKER, make_sweep_config
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.imported_code import reusable_config
from mosaic.contract.layout import Home
from mosaic.contract.run_config import RunConfigError, TrainRunConfig, load_run_config
from mosaic.contract.runs import RunQuery

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


class SearchOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How to search; None means that an option was not given."""

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
    """Name under which the best configuration is saved."""

    def as_params(self) -> dict[str, Any]:
        return {
            name: value for name, value in msgspec.structs.asdict(self).items() if value is not None
        }


class SpaceOptions(msgspec.Struct, kw_only=True, frozen=True):
    """The search space."""

    searches: tuple[str, ...] = ()
    space_file: str | None = None


class SweepRequest(msgspec.Struct, kw_only=True, frozen=True):
    """The configuration of a sweep, and that of its trials."""

    config: TrainRunConfig
    base: TrainRunConfig | None = None


def new_sweep(
    client: "TrainerClient",
    home: Home,
    worker: str,
    trial_options: TrainOptions,
    preset_name: str | None,
    space_options: SpaceOptions,
    search: SearchOptions,
    settings: tuple[str, ...],
) -> SweepRequest:
    """Build a new sweep."""
    preset = load_preset(home, preset_name) if preset_name else None
    script = trial_options.script or (preset or {}).get("script")
    descriptor = describe_worker(client, worker, script)
    base = build_config(trial_options, descriptor, preset)
    space = _space(space_options, _algorithm(descriptor, base))
    fixed = parse_assignments(trial_options.settings, "--set")
    both = sorted(space.keys() & fixed.keys())
    if both:
        raise click.UsageError(f"{', '.join(both)}: give either --set or --search, not both.")
    params = _params(client, search, settings)
    try:
        return SweepRequest(config=make_sweep_config(base, space, params), base=base)
    except RunConfigError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error


def resumed_sweep(
    client: "TrainerClient",
    reference: str,
    search: SearchOptions,
    settings: tuple[str, ...],
    *,
    use_imported_code: bool = False,
) -> SweepRequest:
    """Build a sweep that continues an earlier one."""
    earlier = client.run(find_sweep(client, reference))
    config = load_run_config(
        reusable_config(earlier, use_imported_code=use_imported_code, remedy=IMPORTED_CODE_REMEDY)
    )
    if config.worker != SWEEP_WORKER:
        raise click.UsageError(f"Run {earlier.run.run_id} is not a sweep.")
    if not earlier.run.state.is_final:
        raise click.UsageError(
            f"The sweep {earlier.run.run_id} is still {earlier.run.state}. Wait until it"
            " finishes, or stop it first."
        )
    params = {**config.params, **_params(client, search, settings)}
    params["resume_from"] = earlier.run.run_id
    return SweepRequest(config=msgspec.structs.replace(config, params=params))


def _algorithm(descriptor: WorkerDescriptor, base: TrainRunConfig) -> Algorithm:
    if base.script and len(descriptor.algorithms) == 1:
        return descriptor.algorithms[0]
    algorithm = descriptor.algorithm(base.algo or "")
    if algorithm is None:
        raise click.UsageError("The parameters of the script are unknown; give its absolute path.")
    return algorithm


def _space(options: SpaceOptions, algorithm: Algorithm) -> Mapping[str, SearchDistribution]:
    parameters = algorithm.parameters
    try:
        space: dict[str, SearchDistribution] = {}
        if options.space_file:
            space |= read_search_space_file(Path(options.space_file), parameters)
        space |= parse_search_options(options.searches, parameters)
    except SearchSpaceError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error
    space = space or default_search_space(algorithm)
    if not space:
        raise click.UsageError(
            f"{algorithm.id} declares no search range."
            " Choose parameters with --search name=low..high."
        )
    return space


def _params(
    client: "TrainerClient", search: SearchOptions, settings: tuple[str, ...]
) -> dict[str, Any]:
    """Return the validated parameters of the sweep itself."""
    descriptor = client.describe(SWEEP_WORKER)
    algorithm = descriptor.algorithm(SWEEP_ALGORITHM)
    parameters = algorithm.parameters if algorithm else ()
    others = parse_parameters(parse_assignments(settings, "--option"), parameters)
    params = {**others, **search.as_params()}
    problems = validate_params(descriptor, SWEEP_ALGORITHM, params).problems
    if problems:
        error = RunConfigError(problems)
        raise click.UsageError(f"{error.message} {error.remedy}")
    return params


def find_sweep(client: "TrainerClient", reference: str) -> str:
    """Return the run id of a sweep; `last` is the newest sweep, even if other runs are newer."""
    if reference == LAST:
        query = RunQuery(worker=SWEEP_WORKER, include_archived=True, page_size=1)
        sweeps = client.runs_page(query).runs
        if sweeps:
            return sweeps[0].run_id
    return client.resolve(reference)

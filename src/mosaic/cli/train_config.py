"""Run configurations built from the options of `mosaic train`, a preset or an earlier run."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.assignments import parse_assignments, parse_json_or_text, parse_parameters
from mosaic.cli.checkpoint_reference import find_checkpoint
from mosaic.cli.options import IMPORTED_CODE_REMEDY, resolve_folders
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.imported_code import reusable_config
from mosaic.contract.run_config import RunConfigError, TrainRunConfig, load_run_config
from mosaic.contract.text_types import Name

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

RESUME = "resume"
"""Key in `metadata`: true for a run that continues an earlier one, not only warm-starts from it."""

_MAX_TAG_CHARACTERS = 100
_MAX_TAGS = 50
_FIELDS_NOT_RESUMED = ("run_name", "parent_run", "warm_start", "actor", "lease_s")


class TrainOptions(msgspec.Struct, kw_only=True, frozen=True):
    """The options of the command line; None and empty mean that an option was not given."""

    algo: str | None = None
    script: str | None = None
    env_id: str | None = None
    env_args: tuple[str, ...] = ()
    seed: int | None = None
    total_timesteps: int | None = None
    max_episodes: int | None = None
    settings: tuple[str, ...] = ()
    worker_args: tuple[str, ...] = ()
    config_file: str | None = None
    name: str | None = None
    priority: int | None = None
    time_limit_s: float | None = None
    cpus: int | None = None
    gpus: int | None = None
    memory_mb: int | None = None
    extras: tuple[str, ...] = ()
    launcher: str | None = None
    warm_start: str | None = None
    telemetry: str | None = None
    frames: bool = False
    wandb: str | None = None
    wandb_project: str | None = None
    wandb_entity: str | None = None
    video: bool = False
    video_every: int | None = None
    checkpoint_every: int | None = None
    path: tuple[str, ...] = ()


def build_config(
    options: TrainOptions, descriptor: WorkerDescriptor, preset: Mapping[str, Any] | None = None
) -> TrainRunConfig:
    """Build the configuration. Raises `click.UsageError` that lists every problem.

    Options override the file, which overrides the preset.
    """
    document = _copy_preset(preset or {}, descriptor)
    document |= _read_file(options.config_file) if options.config_file else {}
    document["worker"] = descriptor.worker
    for name, value in _plain_fields(options).items():
        if value is not None:
            document[name] = value
    for path, value in _nested_fields(options).items():
        if value is not None:
            _set_path(document, path, value)
    if document.get("algo") is None and document.get("script") is None:
        document["algo"] = _default_algorithm(descriptor)
    if document.get("env_id") is None:
        document["env_id"] = _default_environment(descriptor)
    folders = resolve_folders(options.path, str(document["env_id"]))
    if folders:
        document["python_path"] = list(folders)
    _apply_params(document, options, descriptor)
    try:
        config = load_run_config(document)
    except RunConfigError as error:
        raise _usage_error(error) from error
    script = _script_algorithm(descriptor) if config.script else None
    if config.script is None or script is not None:
        algo = script.id if script else config.algo
        problems = validate_params(descriptor, algo, config.params).problems
        if problems:
            raise _usage_error(RunConfigError(problems))
    return config


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags without surrounding spaces. Raises `click.UsageError` for an invalid one."""
    stripped = tuple(dict.fromkeys(tag.strip() for tag in tags))
    for tag in stripped:
        if len(tag) > _MAX_TAG_CHARACTERS or not _is_name(tag):
            raise click.UsageError(
                f"--tag {tag[:_MAX_TAG_CHARACTERS]!r} is invalid: expected text of 1 to"
                f" {_MAX_TAG_CHARACTERS} characters without control characters."
            )
    if len(stripped) > _MAX_TAGS:
        raise click.UsageError(f"A run can have at most {_MAX_TAGS} tags, got {len(stripped)}.")
    return stripped


def resumed_document(
    client: "TrainerClient", reference: str, worker: str, *, use_imported_code: bool = False
) -> dict[str, Any]:
    """Return the configuration that continues a run from its newest or the given checkpoint."""
    checkpoint = find_checkpoint(client, reference)
    if not checkpoint.run_id:
        raise click.UsageError(
            f"{reference} was imported, so there is no run to resume."
            f" Start a new run from it: --warm-start {checkpoint.checkpoint_id}."
        )
    document = reusable_config(
        client.run(checkpoint.run_id),
        use_imported_code=use_imported_code,
        remedy=IMPORTED_CODE_REMEDY,
    )
    if document["worker"] != worker:
        raise click.UsageError(
            f"{reference} is a run of {document['worker']}, not of {worker}."
            f" Resume it with `mosaic train {document['worker']} --resume {reference}`."
        )
    if document.get("script"):
        raise click.UsageError("A run of a script cannot be resumed. Start a new run instead.")
    _expect_resumable(client, document, checkpoint.checkpoint_id)
    for name in _FIELDS_NOT_RESUMED:
        document.pop(name, None)
    return {
        **document,
        "mode": "train",
        "warm_start": checkpoint.checkpoint_id,
        "parent_run": checkpoint.run_id,
        "metadata": {**document.get("metadata", {}), RESUME: True},
    }


def _expect_resumable(
    client: "TrainerClient", document: Mapping[str, Any], checkpoint_id: str
) -> None:
    """Raise `click.UsageError` if the worker would silently start from the beginning."""
    worker = document["worker"]
    supports = client.describe(worker).supports
    if supports.resume:
        return
    remedy = "Start a new run, without --resume."
    if supports.warm_start:
        command = ["mosaic", "train", worker]
        if document.get("algo"):
            command += ["--algo", document["algo"]]
        command += ["--env", document["env_id"]]
        for name, value in document.get("env_kwargs", {}).items():
            command += ["--env-arg", f"{name}={msgspec.json.encode(value).decode()}"]
        command += ["--warm-start", checkpoint_id]
        remedy = f"Start a new run from its checkpoint: `{shlex.join(command)}`."
    raise click.UsageError(f"{worker} cannot resume a run that has ended. {remedy}")


def _is_name(text: str) -> bool:
    try:
        msgspec.convert(text, Name)
        text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _usage_error(error: RunConfigError) -> click.UsageError:
    return click.UsageError(f"{error.message} {error.remedy}")


def _copy_preset(preset: Mapping[str, Any], descriptor: WorkerDescriptor) -> dict[str, Any]:
    preset_worker = preset.get("worker", descriptor.worker)
    if preset_worker != descriptor.worker:
        raise click.UsageError(
            f"The preset is for {preset_worker}, but the run is for {descriptor.worker}."
        )
    return dict(preset)


def _read_file(name: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(Path(name).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise click.UsageError(f"{name} cannot be read as a configuration: {error}.") from error
    if not isinstance(document, dict):
        raise click.UsageError(f"{name} is not a run configuration: expected one JSON object.")
    return document


def _plain_fields(options: TrainOptions) -> dict[str, Any]:
    env_kwargs = parse_assignments(options.env_args, "--env-arg")
    worker_args = parse_assignments(options.worker_args, "--arg")
    return {
        "run_name": options.name,
        "algo": options.algo,
        "script": options.script,
        "env_id": options.env_id,
        "env_kwargs": _json_values(env_kwargs) or None,
        "seed": options.seed,
        "total_timesteps": options.total_timesteps,
        "max_episodes": options.max_episodes,
        "extra_args": _json_values(worker_args) or None,
        "priority": options.priority,
        "time_limit_s": options.time_limit_s,
        "launcher": options.launcher,
        "warm_start": options.warm_start,
    }


def _nested_fields(options: TrainOptions) -> dict[tuple[str, ...], Any]:
    has_video = options.video or options.video_every is not None
    return {
        ("resources", "cpus"): options.cpus,
        ("resources", "gpus"): options.gpus,
        ("resources", "memory_mb"): options.memory_mb,
        ("bundle", "extras"): list(options.extras) or None,
        ("telemetry", "steps"): options.telemetry,
        ("telemetry", "frames"): options.frames or None,
        ("artifacts", "wandb", "enabled"): True if options.wandb else None,
        ("artifacts", "wandb", "mode"): options.wandb,
        ("artifacts", "wandb", "project"): options.wandb_project,
        ("artifacts", "wandb", "entity"): options.wandb_entity,
        ("artifacts", "video", "enabled"): has_video or None,
        ("artifacts", "video", "every_episodes"): options.video_every,
        ("artifacts", "checkpoints", "every_steps"): options.checkpoint_every,
    }


def _set_path(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for name in parents:
        child = document.setdefault(name, {})
        if not isinstance(child, dict):
            return  # validation reports it
        document = child
    document[last] = value


def _apply_params(
    document: dict[str, Any], options: TrainOptions, descriptor: WorkerDescriptor
) -> None:
    settings = parse_assignments(options.settings, "--set")
    if not settings:
        return
    if document.get("script") is not None:
        algorithm = _script_algorithm(descriptor)
    else:
        algorithm = descriptor.algorithm(str(document.get("algo")))
    parameters = algorithm.parameters if algorithm else ()
    params = document.setdefault("params", {})
    if isinstance(params, dict):
        params.update(parse_parameters(settings, parameters))


def _script_algorithm(descriptor: WorkerDescriptor) -> Algorithm | None:
    """Return the script as the descriptor's only algorithm; None if it is not known here."""
    return descriptor.algorithms[0] if len(descriptor.algorithms) == 1 else None


def _default_algorithm(descriptor: WorkerDescriptor) -> str:
    known = [algorithm.id for algorithm in descriptor.algorithms]
    if len(known) != 1:
        listing = f"{descriptor.worker} has {', '.join(known)}." if known else ""
        raise click.UsageError(f"Choose an algorithm with --algo. {listing}".strip())
    return known[0]


def _default_environment(descriptor: WorkerDescriptor) -> str:
    environments = descriptor.environments
    if len(environments.ids) == 1 and not environments.families and not environments.any:
        return environments.ids[0]
    known = [*environments.ids, *environments.families]
    listing = f"{descriptor.worker} supports {', '.join(known)}." if known else ""
    raise click.UsageError(
        f"Choose an environment with --env, such as CartPole-v1. {listing}".strip()
    )


def _json_values(settings: Mapping[str, str]) -> dict[str, Any]:
    return {name: parse_json_or_text(text) for name, text in settings.items()}

"""From the options of `mosaic train` to a run configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from mosaic.cli.own_modules import own_folders
from mosaic.cli.settings_text import as_json_value, split_settings, typed_settings
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.run_config import RunConfigError, TrainRunConfig, load_run_config
from mosaic.contract.text_types import Name

_LONGEST_TAG = 100
_MOST_TAGS = 50


class TrainOptions(msgspec.Struct, kw_only=True, frozen=True):
    """What was given on the command line; None and empty mean: not given."""

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
    """The configuration, with every mistake in it told at once.

    Options win over the file, which wins over the preset.
    """
    document = _begin(preset or {}, descriptor)
    document |= _read_file(options.config_file) if options.config_file else {}
    document["worker"] = descriptor.worker
    for name, value in _plain_fields(options).items():
        if value is not None:
            document[name] = value
    for path, value in _nested_fields(options).items():
        if value is not None:
            _put(document, path, value)
    if document.get("algo") is None and document.get("script") is None:
        document["algo"] = _only_algorithm(descriptor)
    if document.get("env_id") is None:
        document["env_id"] = _only_environment(descriptor)
    folders = own_folders(options.path, str(document["env_id"]))
    if folders:
        document["python_path"] = list(folders)
    _set_params(document, options, descriptor)
    try:
        config = load_run_config(document)
    except RunConfigError as error:
        raise _wrong_use(error) from error
    script = _script(descriptor) if config.script else None
    if config.script is None or script is not None:
        algo = script.id if script else config.algo
        problems = validate_params(descriptor, algo, config.params).problems
        if problems:
            raise _wrong_use(RunConfigError(problems))
    return config


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags, each without the space around it: what is wrong is told before a run starts."""
    stripped = tuple(dict.fromkeys(tag.strip() for tag in tags))
    for tag in stripped:
        if len(tag) > _LONGEST_TAG or not _is_name(tag):
            raise click.UsageError(
                f"--tag {tag[:_LONGEST_TAG]!r} is not allowed: give text of 1 to {_LONGEST_TAG}"
                " characters without control characters."
            )
    if len(stripped) > _MOST_TAGS:
        raise click.UsageError(f"A run has at most {_MOST_TAGS} tags; {len(stripped)} were given.")
    return stripped


def _is_name(text: str) -> bool:
    try:
        msgspec.convert(text, Name)
        text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _wrong_use(error: RunConfigError) -> click.UsageError:
    return click.UsageError(f"{error.message} {error.remedy}")


def _begin(preset: Mapping[str, Any], descriptor: WorkerDescriptor) -> dict[str, Any]:
    made_for = preset.get("worker", descriptor.worker)
    if made_for != descriptor.worker:
        raise click.UsageError(
            f"The preset is for {made_for}, and the run for {descriptor.worker}."
        )
    return dict(preset)


def _read_file(name: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(Path(name).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise click.UsageError(f"{name} cannot be read as a configuration: {error}.") from error
    if not isinstance(document, dict):
        raise click.UsageError(f"{name} is no configuration: it must hold one JSON object.")
    return document


def _plain_fields(options: TrainOptions) -> dict[str, Any]:
    env_kwargs = split_settings(options.env_args, "--env-arg")
    worker_args = split_settings(options.worker_args, "--arg")
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
    wants_video = options.video or options.video_every is not None
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
        ("artifacts", "video", "enabled"): wants_video or None,
        ("artifacts", "video", "every_episodes"): options.video_every,
        ("artifacts", "checkpoints", "every_steps"): options.checkpoint_every,
    }


def _put(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for name in parents:
        inner = document.setdefault(name, {})
        if not isinstance(inner, dict):
            return  # the check of the whole names it
        document = inner
    document[last] = value


def _set_params(
    document: dict[str, Any], options: TrainOptions, descriptor: WorkerDescriptor
) -> None:
    settings = split_settings(options.settings, "--set")
    if not settings:
        return
    if document.get("script") is not None:
        algorithm = _script(descriptor)
    else:
        algorithm = descriptor.algorithm(str(document.get("algo")))
    parameters = algorithm.parameters if algorithm else ()
    given = document.setdefault("params", {})
    if isinstance(given, dict):
        given.update(typed_settings(settings, parameters))


def _script(descriptor: WorkerDescriptor) -> Algorithm | None:
    """The script of the run, which is then all that the descriptor has; None: not known here."""
    return descriptor.algorithms[0] if len(descriptor.algorithms) == 1 else None


def _only_algorithm(descriptor: WorkerDescriptor) -> str:
    known = [algorithm.id for algorithm in descriptor.algorithms]
    if len(known) != 1:
        listing = f"{descriptor.worker} has {', '.join(known)}." if known else ""
        raise click.UsageError(f"Say which algorithm with --algo. {listing}".strip())
    return known[0]


def _only_environment(descriptor: WorkerDescriptor) -> str:
    environments = descriptor.environments
    if len(environments.ids) == 1 and not environments.families and not environments.any:
        return environments.ids[0]
    known = [*environments.ids, *environments.families]
    listing = f"{descriptor.worker} knows {', '.join(known)}." if known else ""
    raise click.UsageError(
        f"Say which environment with --env, such as CartPole-v1. {listing}".strip()
    )


def _json_values(settings: Mapping[str, str]) -> dict[str, Any]:
    return {name: as_json_value(text) for name, text in settings.items()}

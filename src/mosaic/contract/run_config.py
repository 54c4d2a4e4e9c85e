"""TrainRunConfig: the configuration of a run. Submitted as JSON, stored as `config.json`."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mosaic.contract import run_config_legacy
from mosaic.contract.json_value import (
    INT64_MAX,
    MAX_DOCUMENT_BYTES,
    TOO_LARGE,
    copy_json,
    parse_json,
)
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.problems import MAX_PROBLEMS, DocumentError, Problem
from mosaic.contract.text_types import EnvId, FilePath, Identifier, Name, Ulid, WebAddress
from mosaic.contract.validation import check_all

CONFIG_REJECTED = "C101"
"""A run configuration is invalid; the message lists every field and its remedy."""
UNKNOWN_ARTIFACT_FIELD = "LOG705"
"""An unknown field under `artifacts`."""

Mode = Literal["train", "play", "evaluate", "sweep"]
StepDetail = Literal["auto", "all", "sampled", "columns", "off"]
Seed = Annotated[int, Meta(ge=0, le=INT64_MAX)]
AtLeastOne = Annotated[int, Meta(ge=1, le=INT64_MAX)]


class RunConfigError(DocumentError):
    """A run configuration is invalid."""

    document = "run configuration"
    default_code = CONFIG_REJECTED


class _Section(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Base of all sections: unknown fields are errors."""


class TensorBoardConfig(_Section, kw_only=True, frozen=True):
    """TensorBoard event files with CleanRL's tags, in `runs/` of the run directory."""

    enabled: bool = True


class WandbConfig(_Section, kw_only=True, frozen=True):
    """Weights & Biases. The API key comes from the environment, never from the configuration."""

    enabled: bool = False
    project: Name = "mosaic"
    entity: Name | None = None
    mode: Literal["online", "offline", "disabled"] = "online"
    proxy: Annotated[WebAddress | None, Meta(description="HTTP proxy for W&B.")] = None


class VideoConfig(_Section, kw_only=True, frozen=True):
    """MP4 recordings of episodes, in `videos/` of the run directory."""

    enabled: bool = False
    every_episodes: AtLeastOne = 100
    max_frames: AtLeastOne = 1000


class CheckpointConfig(_Section, kw_only=True, frozen=True):
    """Checkpoints, in `checkpoints/` of the run directory."""

    every_steps: Annotated[
        int, Meta(ge=0, le=INT64_MAX, description="Steps between checkpoints; 0: only at the end.")
    ] = 0
    keep: Annotated[AtLeastOne, Meta(description="Number of newest checkpoints to keep.")] = 3


class ArtifactsConfig(_Section, kw_only=True, frozen=True):
    """Which artifacts the run writes."""

    tensorboard: TensorBoardConfig = TensorBoardConfig()
    wandb: WandbConfig = WandbConfig()
    video: VideoConfig = VideoConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()


class TelemetryConfig(_Section, kw_only=True, frozen=True):
    """How much the worker records of each step."""

    steps: Annotated[
        StepDetail,
        Meta(description="Step detail; `auto`: chosen by the worker's lane and the mode."),
    ] = "auto"
    frames: bool = False


class BundleConfig(_Section, kw_only=True, frozen=True):
    """The virtual environment to run in."""

    name: Annotated[Identifier | None, Meta(description="null: the worker's bundle.")] = None
    extras: tuple[Identifier, ...] = ()


class ResourcesConfig(_Section, kw_only=True, frozen=True):
    """Resources that the run reserves."""

    cpus: Annotated[int, Meta(ge=1, le=4096)] = 1
    gpus: Annotated[int, Meta(ge=0, le=1024)] = 0
    memory_mb: Annotated[AtLeastOne | None, Meta(description="null: no limit.")] = None


class TrainRunConfig(_Section, kw_only=True, frozen=True):
    """The configuration of one run. `load_run_config` reads it from JSON, `to_json` writes it."""

    run_name: Annotated[Name | None, Meta(description="Display name. The id is generated.")] = None
    worker: Annotated[Identifier, Meta(description="Worker id, such as `cleanrl_worker`.")]
    mode: Mode = "train"
    algo: Annotated[
        Identifier | None,
        Meta(description="Algorithm id; required to train and sweep."),
    ] = None
    env_id: EnvId
    env_kwargs: dict[str, Any] = {}
    seed: Seed = 1
    total_timesteps: Annotated[
        AtLeastOne | None,
        Meta(description="Stop after N steps or `max_episodes`, whichever comes first."),
    ] = None
    max_episodes: AtLeastOne | None = None
    params: Annotated[
        dict[str, Any], Meta(description="Algorithm parameters, typed by the descriptor.")
    ] = {}
    extra_args: Annotated[dict[str, Any], Meta(description="Passed to the worker unchecked.")] = {}
    python_path: Annotated[
        tuple[FilePath, ...],
        Meta(description="Folders with custom modules: environments, actors."),
    ] = ()
    agent_id: Name | None = None
    worker_id: Name | None = None
    bundle: BundleConfig | None = None
    warm_start: Annotated[Identifier | None, Meta(description="Checkpoint id.")] = None
    dataset: Annotated[Identifier | None, Meta(description="Data set id.")] = None
    telemetry: TelemetryConfig = TelemetryConfig()
    actor: Annotated[Name | None, Meta(description="Actor: human, random or a checkpoint.")] = None
    episodes: Annotated[
        AtLeastOne | None, Meta(description="Number of episodes to play or evaluate.")
    ] = None
    seeds: Annotated[tuple[Seed, ...] | None, Meta(description="Seeds to evaluate with.")] = None
    script: Annotated[FilePath | None, Meta(description="Path of an external training script.")] = (
        None
    )
    parent_run: Ulid | None = None
    priority: Annotated[int, Meta(ge=-1000, le=1000, description="Higher starts first.")] = 0
    time_limit_s: Annotated[float, Meta(gt=0)] | None = None
    lease_s: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="Pause the run when no client renews its lease for this long,"
            " and stop it after the same time again."
        ),
    ] = None
    artifacts: ArtifactsConfig = ArtifactsConfig()
    resources: ResourcesConfig = ResourcesConfig()
    launcher: Literal["local", "ray"] = "local"
    metadata: Annotated[dict[str, Any], Meta(description="Stored, never interpreted.")] = {}


def load_run_config(source: bytes | Mapping[str, Any]) -> TrainRunConfig:
    """Load a configuration, in the current format or the legacy nested one.

    Raises `RunConfigError` with every problem, and no other exception.
    """
    if isinstance(source, bytes):
        parsed, problems = parse_json(source)
        if problems:
            raise RunConfigError(problems)
    else:
        parsed = dict(source)
    document, problems = copy_json(parsed, reject_secrets=True)
    if not isinstance(document, dict):
        problems += check_all(document, TrainRunConfig)
    if len(problems) >= MAX_PROBLEMS or any(not problem.path for problem in problems):
        raise RunConfigError(problems)
    normalised = run_config_legacy.normalise(document)
    problems += normalised.problems
    unstorable = {problem.path for problem in problems}
    invalid = [*check_all(normalised.document, TrainRunConfig), *_check_mode(normalised.document)]
    located = (
        dataclasses.replace(_with_code(problem), path=normalised.path_as_written(problem.path))
        for problem in invalid
    )
    problems += [problem for problem in located if problem.path not in unstorable]
    if not problems and normalised.moved_from:
        problems = copy_json(normalised.document)[1]  # moving may have nested it deeper
    if problems:
        raise RunConfigError(problems)
    config = msgspec.convert(normalised.document, TrainRunConfig)
    if len(to_json(config)) > MAX_DOCUMENT_BYTES:
        raise RunConfigError([TOO_LARGE])
    return config


def to_json(config: TrainRunConfig) -> bytes:
    """Encode as canonical JSON: all fields, and equal bytes for equal configurations."""
    return msgspec.json.encode(config, order="deterministic")


def _check_mode(document: dict[str, Any]) -> Iterator[Problem]:
    """Check the fields that the mode requires."""
    is_learning = document.get("mode", "train") in ("train", "sweep")
    if is_learning and document.get("algo") is None and document.get("script") is None:
        yield Problem(
            ("algo",),
            "missing",
            "is missing.",
            "Set the id of one of the worker's algorithms, or the path of a `script`.",
        )


def _with_code(problem: Problem) -> Problem:
    if problem.kind == "unknown" and "artifacts" in problem.path[:1]:
        return dataclasses.replace(problem, code=UNKNOWN_ARTIFACT_FIELD)
    return problem


prebuild_decoders(TrainRunConfig)

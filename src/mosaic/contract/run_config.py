"""TrainRunConfig: everything a run was asked to be. Submitted as JSON, stored as `config.json`."""

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
from mosaic.contract.problems import MOST_PROBLEMS, DocumentError, Problem
from mosaic.contract.shape import check_all
from mosaic.contract.text_types import EnvId, FilePath, Identifier, Name, Ulid, WebAddress
from mosaic.contract.type_info import work_out

CONFIG_REFUSED = "C101"
"""A run configuration was refused; the message names every field and its remedy."""
STRAY_ARTIFACT_FIELD = "LOG705"
"""A field under `artifacts` that is none of the known ones."""

Mode = Literal["train", "play", "evaluate", "sweep"]
StepDetail = Literal["auto", "all", "sampled", "columns", "off"]
Seed = Annotated[int, Meta(ge=0, le=INT64_MAX)]
AtLeastOne = Annotated[int, Meta(ge=1, le=INT64_MAX)]


class ConfigError(DocumentError):
    """A run configuration was refused."""

    document = "run configuration"
    default_code = CONFIG_REFUSED


class _Part(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What the parts of a configuration have in common: a field that is not known is an error."""


class TensorBoardConfig(_Part, kw_only=True, frozen=True):
    """Event files in CleanRL's naming, under `runs/` of the run directory."""

    enabled: bool = True


class WandbConfig(_Part, kw_only=True, frozen=True):
    """Weights & Biases. The key comes from the environment, never from here."""

    enabled: bool = False
    project: Name = "mosaic"
    entity: Name | None = None
    mode: Literal["online", "offline", "disabled"] = "online"
    proxy: Annotated[WebAddress | None, Meta(description="Proxy for this run's W&B traffic.")] = (
        None
    )


class VideoConfig(_Part, kw_only=True, frozen=True):
    """MP4 files of some episodes, under `videos/` of the run directory."""

    enabled: bool = False
    every_episodes: AtLeastOne = 100
    max_frames: AtLeastOne = 1000


class CheckpointConfig(_Part, kw_only=True, frozen=True):
    """Saved policies, under `checkpoints/` of the run directory."""

    every_steps: Annotated[int, Meta(ge=0, le=INT64_MAX, description="0: at the end only.")] = 0
    keep: Annotated[AtLeastOne, Meta(description="How many of the newest are kept.")] = 3


class ArtifactsConfig(_Part, kw_only=True, frozen=True):
    """Which files the run is to leave behind."""

    tensorboard: TensorBoardConfig = TensorBoardConfig()
    wandb: WandbConfig = WandbConfig()
    video: VideoConfig = VideoConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()


class TelemetryConfig(_Part, kw_only=True, frozen=True):
    """How much a worker tells of each step."""

    steps: Annotated[
        StepDetail,
        Meta(description="`auto`: what suits the worker; its lane and the mode decide."),
    ] = "auto"
    frames: bool = False


class BundleConfig(_Part, kw_only=True, frozen=True):
    """The virtual environment to run in."""

    name: Annotated[Identifier | None, Meta(description="null: the one that the run needs.")] = None
    extras: tuple[Identifier, ...] = ()


class ResourcesConfig(_Part, kw_only=True, frozen=True):
    """What the run is granted before it starts."""

    cpus: Annotated[int, Meta(ge=1, le=4096)] = 1
    gpus: Annotated[int, Meta(ge=0, le=1024)] = 0
    memory_mb: Annotated[AtLeastOne | None, Meta(description="null: no limit.")] = None


class TrainRunConfig(_Part, kw_only=True, frozen=True):
    """One run as it was asked for. `load_run_config` makes it from JSON, `to_json` writes it."""

    run_name: Annotated[Name | None, Meta(description="For people; the run's id is made.")] = None
    worker: Annotated[Identifier, Meta(description="The worker's id, such as `cleanrl_worker`.")]
    mode: Mode = "train"
    algo: Annotated[
        Identifier | None,
        Meta(description="The id of one of the worker's algorithms; needed to train and sweep."),
    ] = None
    env_id: EnvId
    env_kwargs: dict[str, Any] = {}
    seed: Seed = 1
    total_timesteps: Annotated[
        AtLeastOne | None,
        Meta(description="Ends the run, as `max_episodes` does: whichever comes first."),
    ] = None
    max_episodes: AtLeastOne | None = None
    params: Annotated[dict[str, Any], Meta(description="Typed by the worker's descriptor.")] = {}
    extra_args: Annotated[dict[str, Any], Meta(description="Passed through unchecked.")] = {}
    python_path: Annotated[
        tuple[FilePath, ...],
        Meta(description="Folders with modules of one's own: environments, actors."),
    ] = ()
    agent_id: Name | None = None
    worker_id: Name | None = None
    bundle: BundleConfig | None = None
    warm_start: Annotated[Identifier | None, Meta(description="Id of a checkpoint.")] = None
    dataset: Annotated[Identifier | None, Meta(description="Id of a data set.")] = None
    telemetry: TelemetryConfig = TelemetryConfig()
    actor: Annotated[Name | None, Meta(description="Who acts: human, random, a checkpoint.")] = None
    episodes: Annotated[AtLeastOne | None, Meta(description="To play or evaluate.")] = None
    seeds: Annotated[tuple[Seed, ...] | None, Meta(description="To evaluate with.")] = None
    script: Annotated[FilePath | None, Meta(description="Path of an upstream script.")] = None
    parent_run: Ulid | None = None
    priority: Annotated[int, Meta(ge=-1000, le=1000, description="Higher starts first.")] = 0
    time_limit_s: Annotated[float, Meta(gt=0)] | None = None
    lease_s: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="The run pauses when no client has held it for so long, and ends when"
            " none comes back for as long again."
        ),
    ] = None
    artifacts: ArtifactsConfig = ArtifactsConfig()
    resources: ResourcesConfig = ResourcesConfig()
    launcher: Literal["local", "ray"] = "local"
    metadata: Annotated[dict[str, Any], Meta(description="Kept, never interpreted.")] = {}


def load_run_config(source: bytes | Mapping[str, Any]) -> TrainRunConfig:
    """The configuration in `source`, in the present form or the earlier nested one.

    Raises `ConfigError` with everything that is wrong, and nothing else.
    """
    if isinstance(source, bytes):
        parsed, problems = parse_json(source)
        if problems:
            raise ConfigError(problems)
    else:
        parsed = dict(source)
    document, problems = copy_json(parsed, refuse_secrets=True)
    if not isinstance(document, dict):
        problems += check_all(document, TrainRunConfig)
    if len(problems) >= MOST_PROBLEMS or any(not problem.path for problem in problems):
        raise ConfigError(problems)
    normalised = run_config_legacy.normalise(document)
    problems += normalised.problems
    unstorable = {problem.path for problem in problems}
    found = [*check_all(normalised.document, TrainRunConfig), *_check_needs(normalised.document)]
    located = (
        dataclasses.replace(_with_code(problem), path=normalised.path_as_written(problem.path))
        for problem in found
    )
    problems += [problem for problem in located if problem.path not in unstorable]
    if not problems and normalised.moved_from:
        problems = copy_json(normalised.document)[1]  # moving may have deepened it
    if problems:
        raise ConfigError(problems)
    config = msgspec.convert(normalised.document, TrainRunConfig)
    if len(to_json(config)) > MAX_DOCUMENT_BYTES:
        raise ConfigError([TOO_LARGE])
    return config


def to_json(config: TrainRunConfig) -> bytes:
    """The canonical JSON: every field present, the same bytes for equal configurations."""
    return msgspec.json.encode(config, order="deterministic")


def _check_needs(document: dict[str, Any]) -> Iterator[Problem]:
    """What a mode needs beyond the types of the fields."""
    learns = document.get("mode", "train") in ("train", "sweep")
    if learns and document.get("algo") is None and document.get("script") is None:
        yield Problem(
            ("algo",),
            "missing",
            "is missing.",
            "Give the id of one of the worker's algorithms, or the path of a `script`.",
        )


def _with_code(problem: Problem) -> Problem:
    if problem.kind == "unknown" and "artifacts" in problem.path[:1]:
        return dataclasses.replace(problem, code=STRAY_ARTIFACT_FIELD)
    return problem


work_out(TrainRunConfig)

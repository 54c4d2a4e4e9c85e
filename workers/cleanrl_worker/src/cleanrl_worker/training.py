"""The worker's `train` mode: from a run's configuration to the learner's `Args` and session."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from cleanrl_worker.arguments import SessionOptions
from cleanrl_worker.learner_catalog import is_large
from cleanrl_worker.session.mosaic_sink import MosaicSink
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "failed to allocate")


def train(run: Run) -> None:
    """Raises `WorkerError` for errors that the user can fix."""
    try:
        _train(run)
    except MemoryError as error:
        raise _out_of_memory(error) from error
    except RuntimeError as error:
        if any(text in str(error).lower() for text in _OUT_OF_MEMORY):
            raise _out_of_memory(error) from error
        if "loading state_dict" in str(error):
            raise _network_mismatch(error) from error
        raise


def _train(run: Run) -> None:
    try:
        from cleanrl_worker.session.training_session import (  # noqa: PLC0415 - imports torch
            TrainingSession,
        )

        learner: Any = importlib.import_module(f"cleanrl_worker.learners.{run.config.algo}")
    except ImportError as error:
        raise _not_installed(error) from error
    args = make_args(learner.Args, run.config)
    session = TrainingSession(
        run.config.algo,
        args,
        MosaicSink(run),
        make_options(run),
        is_large=is_large(run.config.algo),
    )
    try:
        learner.train(args, session)
    finally:
        session.close()


def make_args(args_type: Any, config: RunConfig) -> Any:
    """Fill the learner's flags from the run's parameters and its other fields."""
    artifacts = config.raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    values: dict[str, Any] = {
        **config.params,
        "env_id": config.env_id,
        "seed": config.seed,
        "capture_video": bool((artifacts.get("video") or {}).get("enabled")),
        "checkpoint_every": (artifacts.get("checkpoints") or {}).get("every_steps") or 0,
        "track": bool(wandb.get("enabled")),
        "wandb_project_name": wandb.get("project") or "mosaic",
        "wandb_entity": wandb.get("entity"),
    }
    if config.total_timesteps is not None:
        values["total_timesteps"] = config.total_timesteps
    names = {field.name for field in dataclasses.fields(args_type)}
    return args_type(**{name: value for name, value in values.items() if name in names})


def make_options(run: Run) -> SessionOptions:
    raw = run.config.raw
    artifacts = raw.get("artifacts") or {}
    wandb, video = artifacts.get("wandb") or {}, artifacts.get("video") or {}
    resources = raw.get("resources") or {}
    is_resume = bool((raw.get("metadata") or {}).get("resume"))
    return SessionOptions(
        env_kwargs=run.config.env_kwargs,
        max_episodes=run.config.max_episodes,
        tensorboard=(artifacts.get("tensorboard") or {}).get("enabled", True),
        wandb_mode=wandb.get("mode") or "online",
        wandb_proxy=wandb.get("proxy"),
        video_every=video.get("every_episodes"),
        video_frames=video.get("max_frames") or 1000,
        keep_checkpoints=(artifacts.get("checkpoints") or {}).get("keep") or 3,
        cpus=resources.get("cpus") or 1,
        gpus=resources.get("gpus") or 0,
        resume=run.checkpoint if is_resume else None,
        warm_start=None if is_resume else run.checkpoint,
    )


def _not_installed(error: ImportError) -> WorkerError:
    return WorkerError(
        f"A package that the learner needs is not installed: {error}.",
        remedy="Install the worker's bundle: `mosaic bundles install cleanrl_worker`.",
    )


def _network_mismatch(error: BaseException) -> WorkerError:
    difference = str(error).splitlines()[-1].strip()
    return WorkerError(
        f"The checkpoint's network does not match this training: {difference}",
        remedy="Train in the same environment, with the same network sizes.",
    )


def _out_of_memory(error: BaseException) -> WorkerError:
    first_line = (str(error).splitlines() or ["no memory left"])[0]
    return WorkerError(
        f"The run is out of memory: {first_line}",
        remedy="Decrease buffer_size, batch_size or num_envs, or use a machine with more memory.",
    )

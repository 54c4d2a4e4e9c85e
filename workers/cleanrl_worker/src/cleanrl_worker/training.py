"""Runs a learner for MOSAIC: from a run's configuration to the learner's `Args` and a session."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from cleanrl_worker.learner_catalog import is_large
from cleanrl_worker.session.plan import SessionPlan
from cleanrl_worker.session.run_outlet import RunOutlet
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "failed to allocate")


def train(run: Run) -> None:
    """Raises `WorkerError` for what a person can change."""
    try:
        _train(run)
    except MemoryError as error:
        raise _no_memory(error) from error
    except RuntimeError as error:
        if any(words in str(error).lower() for words in _OUT_OF_MEMORY):
            raise _no_memory(error) from error
        if "loading state_dict" in str(error):
            raise _other_network(error) from error
        raise


def _train(run: Run) -> None:
    try:
        from cleanrl_worker.session.session import Session  # noqa: PLC0415 - imports torch

        learner: Any = importlib.import_module(f"cleanrl_worker.learners.{run.config.algo}")
    except ImportError as error:
        raise _not_installed(error) from error
    args = make_args(learner.Args, run.config)
    session = Session(
        run.config.algo,
        args,
        RunOutlet(run),
        make_plan(run),
        is_large=is_large(run.config.algo),
    )
    try:
        learner.train(args, session)
    finally:
        session.close()


def make_args(args_type: Any, config: RunConfig) -> Any:
    """The learner's flags, from the run's parameters and from its other fields."""
    artifacts = config.raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    given: dict[str, Any] = {
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
        given["total_timesteps"] = config.total_timesteps
    names = {field.name for field in dataclasses.fields(args_type)}
    return args_type(**{name: value for name, value in given.items() if name in names})


def make_plan(run: Run) -> SessionPlan:
    raw = run.config.raw
    artifacts = raw.get("artifacts") or {}
    wandb, video = artifacts.get("wandb") or {}, artifacts.get("video") or {}
    resources = raw.get("resources") or {}
    resumes = bool((raw.get("metadata") or {}).get("resume"))
    return SessionPlan(
        env_kwargs=run.config.env_kwargs,
        max_episodes=run.config.max_episodes,
        tensorboard=(artifacts.get("tensorboard") or {}).get("enabled", True),
        wandb_mode=wandb.get("mode") or "online",
        wandb_proxy=wandb.get("proxy"),
        video_every=video.get("every_episodes"),
        video_frames=video.get("max_frames") or 1000,
        keep_checkpoints=(artifacts.get("checkpoints") or {}).get("keep") or 3,
        processors=resources.get("cpus") or 1,
        gpus=resources.get("gpus") or 0,
        resume=run.checkpoint if resumes else None,
        warm_start=None if resumes else run.checkpoint,
    )


def _not_installed(error: ImportError) -> WorkerError:
    return WorkerError(
        f"A package that the learner needs is not installed: {error}.",
        remedy="Install the worker's bundle: `mosaic bundles install cleanrl_worker`.",
    )


def _other_network(error: BaseException) -> WorkerError:
    difference = str(error).splitlines()[-1].strip()
    return WorkerError(
        f"The checkpoint holds another network than this training has: {difference}",
        remedy="Train in the environment it comes from, with the same sizes of network.",
    )


def _no_memory(error: BaseException) -> WorkerError:
    first_line = (str(error).splitlines() or ["no memory is left"])[0]
    return WorkerError(
        f"The run needs more memory than there is: {first_line}",
        remedy="Choose a smaller buffer_size, batch_size or num_envs, or a machine with more.",
    )

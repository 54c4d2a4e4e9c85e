"""SessionRequest: what a person asks for when a session begins, and the run that it becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mosaic.contract.run_config import StepDetail, TrainRunConfig, load_run_config

SESSION_WORKER = "session_worker"
LEASE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """An environment and who is to act in it."""

    env_id: str
    actor: str = "human"
    """An id of `ActorService`: `human`, `random`, `scripted:…`, a worker, or a checkpoint."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    episodes: int | None = None
    """So many, and then it ends; None: until it is stopped."""
    total_timesteps: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    """Of the worker that plays; its descriptor says which there are."""
    frames: bool = True
    """Whether pictures are drawn for those who watch."""
    lease_s: float | None = LEASE_S
    """None: it goes on without anybody."""
    mode: Literal["play", "evaluate"] = "play"
    seeds: tuple[int, ...] | None = None
    steps: StepDetail = "all"
    run_name: str | None = None
    python_path: tuple[str, ...] = ()
    """Folders with modules of one's own: environments, actors."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which worker plays, and as what."""

    worker: str
    actor: str | None = None
    """As its worker calls it; None: the worker itself is the actor."""
    algo: str | None = None
    extras: tuple[str, ...] = ()
    """Of the worker's bundle, for the packages of the environment."""


def run_config(request: SessionRequest, part: Part) -> TrainRunConfig:
    """The run to submit. Raises `ConfigError`, naming the fields."""
    document: dict[str, Any] = {
        "run_name": request.run_name,
        "worker": part.worker,
        "mode": request.mode,
        "algo": part.algo,
        "env_id": request.env_id,
        "env_kwargs": dict(request.env_kwargs),
        "seed": request.seed,
        "total_timesteps": request.total_timesteps,
        "params": dict(request.params),
        "telemetry": {"steps": request.steps, "frames": request.frames},
        "actor": part.actor,
        "episodes": request.episodes,
        "seeds": request.seeds,
        "lease_s": request.lease_s,
        "python_path": request.python_path,
        "metadata": dict(request.metadata),
    }
    if part.extras:
        document["bundle"] = {"name": part.worker, "extras": list(part.extras)}
    return load_run_config(document)

"""SessionRequest: the parameters of a session, and the run configuration made from it.

Also the actors that a request can name: `ActorDescriptor`, and which checkpoints can act.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from mosaic.contract.descriptor import Environments
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import StepDetail, TrainRunConfig, load_run_config
from mosaic.contract.storage import CheckpointRecord

SESSION_WORKER = "session_worker"
LEASE_S = 30.0

HUMAN = "human"
RANDOM = "random"
SCRIPTED = "scripted"
RECORDED = "recorded"

_SESSION_ACTORS = (HUMAN, RANDOM, SCRIPTED, RECORDED)

SCRIPT_MODEL = "C251"
"""A model that was saved by a script cannot be played or evaluated: only the script can load it."""
SCRIPT_MODEL_TEXT = "This model was saved by a script; only the script can load it."
_SCRIPT_MODEL_REMEDY = "Train with one of the worker's algorithms to play and evaluate the policy."


class ActorDescriptor(msgspec.Struct, kw_only=True, frozen=True):
    """Identity, capabilities, supported environments and availability of an actor."""

    id: str
    label: str
    description: str = ""
    capabilities: tuple[str, ...] = ()
    """For example `takeover`, `learns`, `loads policies`."""
    environments: Environments = Environments(any=True)
    source: Literal["builtin", "worker", "checkpoint"]
    worker: str
    """The worker in whose process the actor runs."""
    algo: str = ""
    checkpoint_id: str = ""
    """The saved policy that the actor uses."""
    is_available: bool = True
    problem: str = ""
    """Why the actor is not available, in general or in this environment."""
    remedy: str = ""


def is_session_worker_actor(actor: str) -> bool:
    """Return whether the session worker itself provides the actor."""
    return actor.partition(":")[0] in _SESSION_ACTORS


def is_script_model(checkpoint: CheckpointRecord) -> bool:
    """Return whether a script saved the checkpoint, so that no worker can load it.

    A run that trained without an algorithm ran a script.
    """
    try:
        meta = msgspec.json.decode(checkpoint.meta_json)
    except msgspec.MsgspecError:
        meta = {}
    is_declared = isinstance(meta, dict) and meta.get("source") == "script"
    return is_declared or (checkpoint.source == "run" and not checkpoint.algo)


def script_model_error() -> UserError:
    """Return the error for playing or evaluating a script's model."""
    return UserError(SCRIPT_MODEL_TEXT, remedy=_SCRIPT_MODEL_REMEDY, code=SCRIPT_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """An environment, an actor and how they are run."""

    env_id: str
    actor: str = "human"
    """An id of `ActorService`: `human`, `random`, `scripted:…`, a worker, or a checkpoint."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    episodes: int | None = None
    """Stop after N episodes; None: no limit."""
    total_timesteps: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the worker, as listed in its descriptor."""
    frames: bool = True
    """Whether to render frames."""
    lease_s: float | None = LEASE_S
    """The run pauses if its lease is not renewed within this time; None: no lease."""
    mode: Literal["play", "evaluate"] = "play"
    seeds: tuple[int, ...] | None = None
    steps: StepDetail = "all"
    run_name: str | None = None
    python_path: tuple[str, ...] = ()
    """Folders with user modules: environments, actors."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorBinding:
    """The worker that runs the actor, and the actor's name there."""

    worker: str
    actor: str | None = None
    """Name of the actor in its worker; None: the worker itself is the actor."""
    algo: str | None = None
    extras: tuple[str, ...] = ()
    """Extras of the worker's bundle that the environment needs."""


def make_run_config(request: SessionRequest, binding: ActorBinding) -> TrainRunConfig:
    """Return the run configuration to submit. Raises `ConfigError` with the invalid fields."""
    document: dict[str, Any] = {
        "run_name": request.run_name,
        "worker": binding.worker,
        "mode": request.mode,
        "algo": binding.algo,
        "env_id": request.env_id,
        "env_kwargs": dict(request.env_kwargs),
        "seed": request.seed,
        "total_timesteps": request.total_timesteps,
        "params": dict(request.params),
        "telemetry": {"steps": request.steps, "frames": request.frames},
        "actor": binding.actor,
        "episodes": request.episodes,
        "seeds": request.seeds,
        "lease_s": request.lease_s,
        "python_path": request.python_path,
        "metadata": dict(request.metadata),
    }
    if binding.extras:
        document["bundle"] = {"name": binding.worker, "extras": list(binding.extras)}
    return load_run_config(document)

"""The flags that every learner has, under CleanRL's names. Each learner's `Args` adds its own.

A field's docstring is its help text, on the command line and in forms: both read it from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class SharedArgs:
    """Flags of every learner."""

    exp_name: str = ""
    """Name of this experiment; empty: the algorithm's name."""
    seed: int = 1
    """Random seed."""
    torch_deterministic: bool = True
    """Use deterministic cuDNN algorithms."""
    torch_threads: int = 0
    """Torch threads; 0: one for small networks, all reserved CPUs for large."""
    cuda: bool = True
    """Use a GPU if there is one."""
    track: bool = False
    """Track this experiment with Weights & Biases."""
    wandb_project_name: str = "mosaic"
    """The project at Weights & Biases."""
    wandb_entity: str | None = None
    """The user or team at Weights & Biases."""
    capture_video: bool = False
    """Save videos of some episodes in `videos`."""
    save_model: bool = True
    """Save the model in `checkpoints` at the end."""
    checkpoint_every: int = 0
    """Steps between two checkpoints; 0: at the end only."""
    checkpoint_buffer_mb: int = 256
    """Maximum replay buffer size in checkpoints; a larger one is left out."""
    resume: str = ""
    """Continue the training of this checkpoint."""
    warm_start: str = ""
    """Start a new training with the network of this checkpoint."""
    upload_model: bool = False
    """Upload the saved model to the Hugging Face hub."""
    hf_entity: str = ""
    """The user or organisation on the Hugging Face hub."""

    env_id: str = "CartPole-v1"
    """Id of the environment."""
    total_timesteps: int = 500_000
    """Total timesteps of the experiment, over all environments."""
    num_envs: int = 1
    """Number of parallel environments."""


@dataclass(frozen=True)
class SessionOptions:
    """Options of a training that are not flags; a run's configuration sets them."""

    env_kwargs: dict[str, Any] = field(default_factory=dict)
    max_episodes: int | None = None
    tensorboard: bool = True
    wandb_mode: str = "online"
    wandb_proxy: str | None = None
    video_every: int | None = None
    """Record every N-th episode of the first environment; None: CleanRL's cubic schedule."""
    video_frames: int = 1000
    keep_checkpoints: int = 3
    cpus: int = 1
    """CPUs that large networks may use."""
    gpus: int | None = None
    """Reserved GPUs; None: use one if there is one."""
    resume: Path | None = None
    warm_start: Path | None = None


def script_options(args: SharedArgs, cpus: int) -> SessionOptions:
    """Return the options of a learner that is run as a script."""
    return SessionOptions(
        cpus=cpus,
        resume=Path(args.resume) if args.resume else None,
        warm_start=Path(args.warm_start) if args.warm_start else None,
    )

"""What a session leaves behind besides its numbers, and where it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cleanrl_worker.arguments import SharedArgs


@dataclass(frozen=True)
class SessionPlan:
    """Made from a script's flags, or from a run's configuration."""

    env_kwargs: dict[str, Any] = field(default_factory=dict)
    max_episodes: int | None = None
    tensorboard: bool = True
    wandb_mode: str = "online"
    wandb_proxy: str | None = None
    video_every: int | None = None
    """Every so many episodes of the first environment; None: CleanRL's rule, ever fewer."""
    video_frames: int = 1000
    keep_checkpoints: int = 3
    processors: int = 1
    """How many large networks may use."""
    gpus: int | None = None
    """How many are reserved; None: whatever is there may be used."""
    resume: Path | None = None
    warm_start: Path | None = None


def plan_of_script(args: SharedArgs, processors: int) -> SessionPlan:
    return SessionPlan(
        processors=processors,
        resume=Path(args.resume) if args.resume else None,
        warm_start=Path(args.warm_start) if args.warm_start else None,
    )

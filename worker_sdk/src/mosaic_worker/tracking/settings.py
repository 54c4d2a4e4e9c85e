"""What a run wants to have tracked, and under which name."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.run_config import RunConfig


class WandbSettings(NamedTuple):
    """The run's `artifacts.wandb`, and the group that its page is in."""

    project: str = "mosaic"
    entity: str | None = None
    mode: str = "online"
    """`online`, `offline` or `disabled`; WANDB_MODE of the environment can change the first."""
    proxy: str | None = None
    """Without a password; see `wandb_environment`."""
    group: str = ""


class TrackingSettings(NamedTuple):
    """`name` is the folder of the event files below `runs/`, and the run's name at W&B."""

    name: str
    parameters: Mapping[str, Any]
    """Shown with the curves."""
    tensorboard: bool = True
    wandb: WandbSettings | None = None
    bundle: str = ""
    """Whose extra `wandb` has the package."""


def tracking_settings(config: RunConfig) -> TrackingSettings:
    """As the run's `artifacts` say."""
    artifacts = config.raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    return TrackingSettings(
        name=tracked_name(config.env_id, config.algo, config.seed),
        parameters=config.arguments(),
        tensorboard=bool((artifacts.get("tensorboard") or {}).get("enabled", True)),
        wandb=_wandb_settings(wandb, config) if wandb.get("enabled") else None,
        bundle=config.raw.get("worker") or "",
    )


def tracked_name(env_id: str, algo: str, seed: int) -> str:
    """`<env>__<algo>__<seed>__<timestamp>`, as the protocol names folders of event files."""
    parts = (env_id, algo, str(seed), str(int(time.time())))
    return re.sub("[/:]", "-", "__".join(filter(None, parts)))


def _wandb_settings(wandb: Mapping[str, Any], config: RunConfig) -> WandbSettings:
    return WandbSettings(
        project=wandb.get("project") or "mosaic",
        entity=wandb.get("entity"),
        mode=wandb.get("mode") or "online",
        proxy=wandb.get("proxy"),
        group="-".join(filter(None, (config.env_id, config.algo))),
    )

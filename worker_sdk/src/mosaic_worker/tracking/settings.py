"""TrackingSettings: the trackers of a run, and its name in them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.compat import make_getattr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.run_config import RunConfig


class WandbSettings(NamedTuple):
    """The run's `artifacts.wandb`, and the W&B group of the run."""

    project: str = "mosaic"
    entity: str | None = None
    mode: str = "online"
    """`online`, `offline` or `disabled`; the variable WANDB_MODE overrides `online`."""
    proxy: str | None = None
    """Without a password; see `wandb_process`."""
    group: str = ""


class TrackingSettings(NamedTuple):
    """`name` is the folder of the event files below `runs/`, and the W&B run name."""

    name: str
    parameters: Mapping[str, Any]
    """Hyperparameters shown with the curves."""
    tensorboard: bool = True
    wandb: WandbSettings | None = None
    bundle: str = ""
    """The bundle whose extra `wandb` installs the package."""


def tracking_settings(config: RunConfig) -> TrackingSettings:
    """The settings in the run's `artifacts`."""
    artifacts = config.raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    return TrackingSettings(
        name=make_run_name(config.env_id, config.algo, config.seed),
        parameters=config.arguments(),
        tensorboard=bool((artifacts.get("tensorboard") or {}).get("enabled", True)),
        wandb=_wandb_settings(wandb, config) if wandb.get("enabled") else None,
        bundle=config.raw.get("worker") or "",
    )


def make_run_name(env_id: str, algo: str, seed: int) -> str:
    """`<env>__<algo>__<seed>__<timestamp>`, the folder name defined by the protocol."""
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


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)

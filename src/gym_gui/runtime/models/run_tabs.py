"""Which tab a run opens in, and why other tabs are empty.

The lane of the worker decides: telemetry opens Live and Replay, analytics opens Charts.
"""

from collections.abc import Collection
from typing import Literal

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import LIVE_STATES
from mosaic.contract.runs import RunRecord

FirstTab = Literal["live", "replay", "run", "charts", "optuna"]
AnalyticsTab = Literal["charts", "tensorboard", "wandb", "optuna"]

NO_RUN = "Select a run in the list below."
HUMAN_PLAY = "A human played this run: it has episodes to replay, but no metrics."
NO_VIDEO = "This run has no video. Turn on video when training, or export one from Replay."
NO_STEPS = "This run has no recorded steps. Play a checkpoint, or train with Minimal telemetry."
NO_TENSORBOARD = "This run has no event files: enable TensorBoard in the form, or export them."
NO_WANDB = "Enable --track and login to use W&B"
NO_STUDY = "This run is not a sweep: it has no Optuna database."
_HUMAN = "human"
_TABS_BY_EVENT_TYPE = {"bdi": "beliefs"}


def first_tab(
    run: RunRecord, config: TrainRunConfig | None, descriptor: WorkerDescriptor | None
) -> FirstTab:
    """The tab that is shown when a run is opened."""
    if config is not None and config.mode == "sweep":
        return "optuna"
    has_steps = run.digest.steps > 0 or descriptor is None or descriptor.lane == "telemetry"
    if run.state in LIVE_STATES:
        return "live" if has_steps else "charts"
    if run.digest.steps and run.digest.episodes and run.mode != "train":
        return "replay"
    if run.digest.metrics or run.digest.episodes:
        return "charts" if not has_steps or run.digest.metrics else "replay"
    return "run"


def no_replay_reason(run: RunRecord | None) -> str:
    """Why the run cannot be replayed; empty if it can, or may later."""
    if run is None or run.digest.steps:
        return ""
    return NO_STEPS if run.state.is_final or run.digest.episodes else ""


def extra_tabs(
    descriptor: WorkerDescriptor | None, event_types: Collection[str]
) -> tuple[str, ...]:
    """Tabs that the worker names, and tabs of recorded event types."""
    named = descriptor.tabs if descriptor else ()
    by_event = tuple(tab for kind, tab in _TABS_BY_EVENT_TYPE.items() if kind in event_types)
    return tuple(dict.fromkeys((*named, *by_event)))


def empty_reasons(
    run: RunRecord | None, config: TrainRunConfig | None, manifest: ArtifactManifest
) -> dict[AnalyticsTab, str]:
    """For each analytics tab, why it is empty; empty text if it is not."""
    if run is None:
        return {"charts": "", "tensorboard": NO_RUN, "wandb": NO_RUN, "optuna": NO_RUN}
    if config is not None and config.mode == "play" and config.actor == _HUMAN:
        return {
            "charts": HUMAN_PLAY,
            "tensorboard": HUMAN_PLAY,
            "wandb": HUMAN_PLAY,
            "optuna": HUMAN_PLAY,
        }
    is_tracked = config is not None and config.artifacts.wandb.enabled
    has_wandb = bool(manifest.wandb_url or manifest.wandb_run_id or manifest.wandb_offline_dirs)
    return {
        "charts": "",
        "tensorboard": "" if manifest.tensorboard_dir else NO_TENSORBOARD,
        "wandb": "" if has_wandb or is_tracked else NO_WANDB,
        "optuna": "" if manifest.optuna_db_path else NO_STUDY,
    }

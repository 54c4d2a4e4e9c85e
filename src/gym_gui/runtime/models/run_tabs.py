"""Which tab a run opens in, and why others show nothing: decided here, and nowhere else.

By the worker's lane: telemetry opens Live and Replay, analytics the charts, hybrid both.
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
BY_HAND = "A person played this run: it has episodes to replay, and no metrics."
NO_VIDEO = "This run has no video. Turn on video when training, or export one from Replay."
NO_STEPS = "No step of this run is recorded. Play its checkpoint, or train with Minimal telemetry."
NO_TENSORBOARD = "This run has no event files: switch TensorBoard on in the form, or export them."
NO_WANDB = "Enable --track and login to use W&B"
NO_STUDY = "This run is not a sweep: it has no Optuna database."
_HUMAN = "human"
_TAB_OF_LINES = {"bdi": "beliefs"}
"""By the `type` of a line."""


def first_tab(
    run: RunRecord, config: TrainRunConfig | None, descriptor: WorkerDescriptor | None
) -> FirstTab:
    """What comes to the front when a person opens the run."""
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


def no_replay(run: RunRecord | None) -> str:
    """Why nothing of this run can be seen again; empty while that may still come."""
    if run is None or run.digest.steps:
        return ""
    return NO_STEPS if run.state.is_final or run.digest.episodes else ""


def further(descriptor: WorkerDescriptor | None, event_types: Collection[str]) -> tuple[str, ...]:
    """Kinds of further tabs: those that the worker names, and those of lines that the run has."""
    named = descriptor.tabs if descriptor else ()
    of_lines = tuple(tab for kind, tab in _TAB_OF_LINES.items() if kind in event_types)
    return tuple(dict.fromkeys((*named, *of_lines)))


def reasons(
    run: RunRecord | None, config: TrainRunConfig | None, manifest: ArtifactManifest
) -> dict[AnalyticsTab, str]:
    """For each tab of analytics why it shows nothing; empty when it shows something."""
    if run is None:
        return {"charts": "", "tensorboard": NO_RUN, "wandb": NO_RUN, "optuna": NO_RUN}
    if config is not None and config.mode == "play" and config.actor == _HUMAN:
        return {"charts": BY_HAND, "tensorboard": BY_HAND, "wandb": BY_HAND, "optuna": BY_HAND}
    tracks = config is not None and config.artifacts.wandb.enabled
    has_wandb = bool(manifest.wandb_url or manifest.wandb_run_id or manifest.wandb_offline_dirs)
    return {
        "charts": "",
        "tensorboard": "" if manifest.tensorboard_dir else NO_TENSORBOARD,
        "wandb": "" if has_wandb or tracks else NO_WANDB,
        "optuna": "" if manifest.optuna_db_path else NO_STUDY,
    }

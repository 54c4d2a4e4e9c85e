"""Which tab a run opens in, and why other tabs are empty."""

from typing import Any

import pytest

from gym_gui.runtime.models import run_tabs
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats


def _run(state: RunState, *, mode: str = "train", **stats: Any) -> RunRecord:
    return RunRecord(
        run_id="01H",
        worker="some_worker",
        mode=mode,
        env_id="CartPole-v1",
        seed=1,
        state=state,
        created_at=1.0,
        digest=RunStats(**stats),
    )


@pytest.mark.parametrize(
    ("lane", "steps", "tab"),
    [
        ("telemetry", 0, "live"),
        ("analytics", 0, "charts"),
        ("hybrid", 0, "charts"),
        ("hybrid", 5, "live"),
        ("analytics", 5, "live"),
    ],
)
def test_first_tab_of_an_active_run(lane: str, steps: int, tab: str) -> None:
    """Live if the worker reports steps, Charts if it reports metrics only."""
    descriptor = WorkerDescriptor(worker="some_worker", lane=lane)  # type: ignore[arg-type]
    run = _run(RunState.RUNNING, steps=steps)
    assert run_tabs.first_tab(run, None, descriptor) == tab


@pytest.mark.parametrize(
    ("mode", "stats", "tab"),
    [
        ("play", {"steps": 9, "episodes": 1}, "replay"),
        ("train", {"steps": 9, "episodes": 1, "metrics": 4}, "charts"),
        ("train", {"metrics": 4}, "charts"),
        ("train", {}, "run"),
    ],
)
def test_first_tab_of_a_finished_run(mode: str, stats: dict[str, int], tab: str) -> None:
    """Replay of a session, Charts of a training run, the run page if there is no data."""
    assert run_tabs.first_tab(_run(RunState.FAILED, mode=mode, **stats), None, None) == tab


def test_a_run_without_steps_cannot_be_replayed() -> None:
    """The reason is empty while a running run may still report its first step."""
    assert run_tabs.no_replay_reason(_run(RunState.RUNNING)) == ""
    assert run_tabs.no_replay_reason(_run(RunState.RUNNING, episodes=1, steps=9)) == ""
    assert run_tabs.no_replay_reason(_run(RunState.RUNNING, episodes=1)) == run_tabs.NO_STEPS
    assert run_tabs.no_replay_reason(_run(RunState.SUCCEEDED)) == run_tabs.NO_STEPS


def test_empty_reasons() -> None:
    """A tab is empty unless the manifest has its artifact; a human session has no metrics."""
    run = _run(RunState.SUCCEEDED)
    config = load_run_config({"worker": "some_worker", "algo": "ppo", "env_id": "CartPole-v1"})
    nothing = run_tabs.empty_reasons(run, config, ArtifactManifest())
    assert nothing["wandb"] == "Enable --track and login to use W&B"
    assert nothing["tensorboard"]
    assert nothing["optuna"]
    assert nothing["charts"] == ""
    manifest = ArtifactManifest(
        tensorboard_dir="runs", wandb_offline_dirs=("wandb/offline-run-1",), optuna_db_path="o.db"
    )
    assert set(run_tabs.empty_reasons(run, config, manifest).values()) == {""}
    tracked = load_run_config(
        {
            "worker": "some_worker",
            "algo": "ppo",
            "env_id": "CartPole-v1",
            "artifacts": {"wandb": {"enabled": True}},
        }
    )
    assert run_tabs.empty_reasons(run, tracked, ArtifactManifest())["wandb"] == ""
    human = load_run_config(
        {"worker": "some_worker", "mode": "play", "actor": "human", "env_id": "CartPole-v1"}
    )
    assert set(run_tabs.empty_reasons(run, human, manifest).values()) == {run_tabs.HUMAN_PLAY}
    assert run_tabs.empty_reasons(None, None, ArtifactManifest())["tensorboard"] == run_tabs.NO_RUN


def test_extra_tabs() -> None:
    """Tabs of the descriptor and of recorded event types, without duplicates."""
    named = WorkerDescriptor(worker="some_worker", tabs=("beliefs", "prompts"))
    assert run_tabs.extra_tabs(named, {"step", "bdi"}) == ("beliefs", "prompts")
    assert run_tabs.extra_tabs(None, {"bdi"}) == ("beliefs",)
    assert run_tabs.extra_tabs(WorkerDescriptor(worker="some_worker"), {"step"}) == ()

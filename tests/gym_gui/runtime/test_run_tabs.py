"""Which tab a run opens in, and the reasons of those that show nothing."""

from typing import Any

import pytest

from gym_gui.runtime.models import run_tabs
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats


def _run(state: RunState, *, mode: str = "train", **figures: Any) -> RunRecord:
    return RunRecord(
        run_id="01H",
        worker="some_worker",
        mode=mode,
        env_id="CartPole-v1",
        seed=1,
        state=state,
        created_at=1.0,
        digest=RunStats(**figures),
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
def test_a_live_run_opens_by_its_lane(lane: str, steps: int, tab: str) -> None:
    """What tells of its steps is watched, what tells metrics only is charted."""
    descriptor = WorkerDescriptor(worker="some_worker", lane=lane)  # type: ignore[arg-type]
    run = _run(RunState.RUNNING, steps=steps)
    assert run_tabs.first_tab(run, None, descriptor) == tab


@pytest.mark.parametrize(
    ("mode", "figures", "tab"),
    [
        ("play", {"steps": 9, "episodes": 1}, "replay"),
        ("train", {"steps": 9, "episodes": 1, "metrics": 4}, "charts"),
        ("train", {"metrics": 4}, "charts"),
        ("train", {}, "run"),
    ],
)
def test_a_run_that_is_over(mode: str, figures: dict[str, int], tab: str) -> None:
    """What was played is replayed, what was trained is charted, what left nothing says why."""
    assert run_tabs.first_tab(_run(RunState.FAILED, mode=mode, **figures), None, None) == tab


def test_what_has_no_steps_is_not_replayed() -> None:
    """Greyed once it is known that no step is recorded, not while the first may still come."""
    assert run_tabs.no_replay(_run(RunState.RUNNING)) == ""
    assert run_tabs.no_replay(_run(RunState.RUNNING, episodes=1, steps=9)) == ""
    assert run_tabs.no_replay(_run(RunState.RUNNING, episodes=1)) == run_tabs.NO_STEPS
    assert run_tabs.no_replay(_run(RunState.SUCCEEDED)) == run_tabs.NO_STEPS


def test_reasons() -> None:
    """A tab is greyed unless the manifest has its artifact; a person's run has no metrics."""
    run = _run(RunState.SUCCEEDED)
    asked = load_run_config({"worker": "some_worker", "algo": "ppo", "env_id": "CartPole-v1"})
    nothing = run_tabs.reasons(run, asked, ArtifactManifest())
    assert nothing["wandb"] == "Enable --track and login to use W&B"
    assert nothing["tensorboard"]
    assert nothing["optuna"]
    assert nothing["charts"] == ""
    left = ArtifactManifest(
        tensorboard_dir="runs", wandb_offline_dirs=("wandb/offline-run-1",), optuna_db_path="o.db"
    )
    assert set(run_tabs.reasons(run, asked, left).values()) == {""}
    tracked = load_run_config(
        {
            "worker": "some_worker",
            "algo": "ppo",
            "env_id": "CartPole-v1",
            "artifacts": {"wandb": {"enabled": True}},
        }
    )
    assert run_tabs.reasons(run, tracked, ArtifactManifest())["wandb"] == ""
    by_hand = load_run_config(
        {"worker": "some_worker", "mode": "play", "actor": "human", "env_id": "CartPole-v1"}
    )
    assert set(run_tabs.reasons(run, by_hand, left).values()) == {run_tabs.BY_HAND}
    assert run_tabs.reasons(None, None, ArtifactManifest())["tensorboard"] == run_tabs.NO_RUN


def test_further_tabs_are_those_that_are_named_or_needed() -> None:
    """By the descriptor, and by lines that only they can show; each once."""
    named = WorkerDescriptor(worker="some_worker", tabs=("beliefs", "horoscope"))
    assert run_tabs.further(named, {"step", "bdi"}) == ("beliefs", "horoscope")
    assert run_tabs.further(None, {"bdi"}) == ("beliefs",)
    assert run_tabs.further(WorkerDescriptor(worker="some_worker"), {"step"}) == ()

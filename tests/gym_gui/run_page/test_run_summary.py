"""Summary texts of a run: status, timeline, artifacts and next step."""

import msgspec

from gym_gui.run_page.feed.run_overview import FolderUsage, RunOverview
from gym_gui.run_page.model import run_artifacts, run_summary
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord, RunStats, StateChange

_NOW = 1_000_000.0
_RUN = RunRecord(
    run_id="01J0000000000000000000000A",
    worker="cleanrl_worker",
    mode="train",
    algo="ppo",
    env_id="CartPole-v1",
    seed=1,
    state=RunState.RUNNING,
    created_at=_NOW - 100,
    started_at=_NOW - 90,
    digest=RunStats(
        progress_done=216_000, progress_total=300_000, progress_unit="steps", sps=12_400, eta_s=7
    ),
)
_CONFIG = load_run_config({"worker": "cleanrl_worker", "algo": "ppo", "env_id": "CartPole-v1"})


def _in_state(state: RunState, **more: object) -> RunRecord:
    return msgspec.structs.replace(_RUN, state=state, **more)


def test_progress_of_a_run() -> None:
    """Done and total, rate and time left; for a finished run only done and total."""
    assert run_summary.progress_text(_RUN) == "216,000 of 300,000 steps · 12.4 k/s · 00:07 left"
    finished = _in_state(RunState.SUCCEEDED)
    assert run_summary.progress_text(finished) == "216,000 of 300,000 steps"


def test_the_environment_with_its_arguments() -> None:
    """The name is followed by its keyword arguments."""
    fields = run_summary.about(_RUN, None, {"is_slippery": False, "map_name": "8x8"})
    assert fields[0].value == "CartPole-v1 · is_slippery=false · map_name=8x8"
    assert run_summary.about(_RUN, None, {})[0].value == "CartPole-v1"


def test_status_messages() -> None:
    """A failure has a reason and a remedy, also without a report; an active run has no message."""
    assert run_summary.status_message(_RUN) is None
    failed = run_summary.status_message(
        _in_state(RunState.FAILED, reason="NaN loss.", remedy="Lower it.")
    )
    assert failed is not None
    assert (failed.reason, failed.remedy, failed.tone) == ("NaN loss.", "Lower it.", "bad")
    silent = run_summary.status_message(_in_state(RunState.FAILED, exit_code=3))
    assert silent is not None
    assert silent.reason
    assert "exit code 3" in silent.remedy
    stopped = run_summary.status_message(
        _in_state(RunState.CANCELLED, reason="stopped in the window")
    )
    assert stopped is not None
    assert (stopped.title, stopped.reason) == ("Run stopped in the window", "")
    for state in RunState:
        text = run_summary.next_step(_in_state(state), _CONFIG, True, True)
        assert bool(text) == state.is_final


def test_timeline() -> None:
    """Each state with its duration; the last one continues unless it is final."""
    changes = (
        StateChange(state=RunState.QUEUED, t=_NOW - 100),
        StateChange(state=RunState.RUNNING, t=_NOW - 60, reason="went\non"),
    )
    details = RunDetails(run=_RUN, config_json=b"{}", history=changes)
    states = run_summary.history_of(details, _NOW)
    assert [(state.word, state.lasted, state.reason) for state in states] == [
        ("◷ queued", "00:40", ""),
        ("● running", "01:00", "went on"),
    ]


def test_existing_and_missing_artifacts() -> None:
    """Sizes and times of existing artifacts; a reason for each missing kind."""
    videos = tuple(
        ArtifactFile(path=f"videos/{number}.mp4", size_bytes=10, t=float(number))
        for number in range(run_artifacts.MAX_FILES + 5)
    )
    manifest = ArtifactManifest(tensorboard_dir="runs/x", videos=videos)
    overview = RunOverview(folders={"runs/x": FolderUsage(5_000, 7.0, 2)})
    rows = {row.kind: row for row in run_artifacts.rows_of(_RUN, _CONFIG, manifest, overview)}
    board, movies = rows["tensorboard"], rows["videos"]
    assert (board.description, board.size_bytes, board.t, board.reason) == (
        "2 event files",
        5_000,
        7.0,
        "",
    )
    assert (movies.files[0].path, movies.not_listed) == (f"videos/{len(videos) - 1}.mp4", 5)
    assert movies.description == f"{len(videos)} videos"
    missing = [kind for kind, row in rows.items() if row.reason]
    assert missing == ["wandb", "checkpoints", "optuna", "datasets", "reports"]

"""A run in words: how it stands, how it came there, what it has left and what to do next."""

import msgspec

from gym_gui.run_page.feed.run_facts import FolderUse, RunFacts
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


def test_how_far_a_run_is() -> None:
    """Done and total, rate and what is left; of a run that is over only the first."""
    assert run_summary.progress_words(_RUN) == "216,000 of 300,000 steps · 12.4 k/s · 00:07 left"
    over = _in_state(RunState.SUCCEEDED)
    assert run_summary.progress_words(over) == "216,000 of 300,000 steps"


def test_the_environment_with_its_settings() -> None:
    """What it was made with stands beside its name."""
    facts = run_summary.about(_RUN, None, {"is_slippery": False, "map_name": "8x8"})
    assert facts[0].value == "CartPole-v1 · is_slippery=false · map_name=8x8"
    assert run_summary.about(_RUN, None, {})[0].value == "CartPole-v1"


def test_what_needs_a_persons_eye() -> None:
    """A failure says why and what to do, also where the worker did not; a run at work nothing."""
    assert run_summary.verdict_of(_RUN) is None
    told = run_summary.verdict_of(
        _in_state(RunState.FAILED, reason="NaN loss.", remedy="Lower it.")
    )
    assert told is not None
    assert (told.reason, told.remedy, told.tone) == ("NaN loss.", "Lower it.", "bad")
    silent = run_summary.verdict_of(_in_state(RunState.FAILED, exit_code=3))
    assert silent is not None
    assert silent.reason
    assert "exit code 3" in silent.remedy
    stopped = run_summary.verdict_of(_in_state(RunState.CANCELLED, reason="stopped in the window"))
    assert stopped is not None
    assert (stopped.title, stopped.reason) == ("It was stopped in the window", "")
    for state in RunState:
        words = run_summary.next_step(_in_state(state), _CONFIG, True, True)
        assert bool(words) == state.is_final


def test_the_states_it_came_through() -> None:
    """Each with how long it lasted; the last one goes on, unless it is final."""
    changes = (
        StateChange(state=RunState.QUEUED, t=_NOW - 100),
        StateChange(state=RunState.RUNNING, t=_NOW - 60, reason="went\non"),
    )
    details = RunDetails(run=_RUN, config_json=b"{}", history=changes)
    states = run_summary.history_of(details, _NOW)
    assert [(each.word, each.lasted, each.reason) for each in states] == [
        ("◷ queued", "00:40", ""),
        ("● running", "01:00", "went on"),
    ]


def test_what_is_there_and_why_the_rest_is_not() -> None:
    """Sizes and times of what there is; a reason for each kind that is missing."""
    videos = tuple(
        ArtifactFile(path=f"videos/{number}.mp4", size_bytes=10, t=float(number))
        for number in range(run_artifacts.MOST_FILES + 5)
    )
    manifest = ArtifactManifest(tensorboard_dir="runs/x", videos=videos)
    facts = RunFacts(folders={"runs/x": FolderUse(5_000, 7.0, 2)})
    rows = {row.kind: row for row in run_artifacts.rows_of(_RUN, _CONFIG, manifest, facts)}
    board, movies = rows["tensorboard"], rows["videos"]
    assert (board.what, board.size_bytes, board.t, board.reason) == (
        "2 event files",
        5_000,
        7.0,
        "",
    )
    assert (movies.files[0].path, movies.not_listed) == (f"videos/{len(videos) - 1}.mp4", 5)
    assert movies.what == f"{len(videos)} videos"
    missing = [kind for kind, row in rows.items() if row.reason]
    assert missing == ["wandb", "checkpoints", "optuna", "datasets", "reports"]

"""Fields of a run besides its state: stats, manifest, launch, warnings, paused time."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mosaic.contract.ids import new_ulid
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest, decode_manifest
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import BundleUse, RunQuery, RunStats
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.registry.run_rows import EarlierRun
from mosaic.trainer.registry.schema import MIGRATIONS
from tests.trainer.registry.conftest import AddRun, Clock, config, finish

_COUNT = st.integers(0, 2**63 - 1)
_REAL = st.none() | st.floats().map(lambda value: value + 0.0)  # SQLite has one zero
_DIGESTS = st.builds(
    RunStats,
    steps=_COUNT,
    episodes=_COUNT,
    metrics=_COUNT,
    last_step_at=_REAL,
    latest_return=_REAL,
    mean_return=_REAL,
    sps=_REAL,
    progress_done=_REAL,
    progress_total=_REAL,
    progress_unit=st.sampled_from(["", "steps", "NaN"]),
    eta_s=_REAL,
    heartbeat_at=_REAL,
    rss_bytes=st.none() | _COUNT,
    rejects=_COUNT,
    spool_bytes=_COUNT,
    committed_bytes=_COUNT,
)


def test_any_digest_is_stored_exactly(registry: RunRegistry, add_run: AddRun) -> None:
    """NaN, infinities and `None` are distinguished, in the record and in the list."""
    run_id = add_run().run_id

    @settings(deadline=None)
    @given(_DIGESTS)
    def check_round_trip(digest: RunStats) -> None:
        registry.set_digests({run_id: digest})
        # Compare representations, because NaN does not equal itself.
        assert repr(registry.get(run_id).digest) == repr(digest)
        assert repr(registry.list(RunQuery()).runs[0].digest) == repr(digest)

    check_round_trip()


def test_set_digests_of_several_runs(registry: RunRegistry, add_run: AddRun) -> None:
    """Each run gets its own digest; an unknown run is skipped; no event is added."""
    runs = [add_run().run_id for _ in range(3)]
    seq = registry.last_event_seq()
    unknown = new_ulid()
    registry.set_digests({run_id: RunStats(steps=n) for n, run_id in enumerate([*runs, unknown])})
    assert [registry.get(run_id).digest.steps for run_id in runs] == [0, 1, 2]
    assert registry.last_event_seq() == seq
    assert unknown not in registry.run_ids()
    registry.set_digests({})


def test_every_field_of_a_digest_has_a_column() -> None:
    """Fails for a new field of `RunStats` without a migration."""
    (statement,) = (s for s in MIGRATIONS[0] if "CREATE TABLE run_digest" in s)
    columns = re.findall(r"^\s+(\w+) (?:INTEGER|REAL|TEXT)", statement, re.MULTILINE)
    later = "\n".join(statement for migration in MIGRATIONS[1:] for statement in migration)
    columns += re.findall(r"^ALTER TABLE run_digest ADD COLUMN (\w+)", later, re.MULTILINE)
    assert tuple(columns) == ("run", *RunStats.__struct_fields__)


def test_a_changed_manifest_adds_an_event(registry: RunRegistry, add_run: AddRun) -> None:
    """An empty or unchanged manifest adds no event."""
    run_id = add_run().run_id
    manifest = ArtifactManifest(
        tensorboard_dir="runs/a", videos=(ArtifactFile(path="videos/1.mp4", size_bytes=5, t=1.5),)
    )
    assert registry.set_manifest(run_id, ArtifactManifest()) is False
    assert registry.set_manifest(run_id, manifest) is True
    assert registry.set_manifest(run_id, manifest) is False
    assert decode_manifest(registry.details(run_id).manifest_json) == manifest
    assert registry.set_manifest(run_id, ArtifactManifest()) is True
    with pytest.raises(UnknownRunError):
        registry.set_manifest(new_ulid(), manifest)


def test_launch_details_of_a_run(registry: RunRegistry, add_run: AddRun) -> None:
    """Command, bundle and resolved configuration are stored; a bundle is in use until deletion."""
    first, second = add_run().run_id, add_run().run_id
    bundle = BundleUse(
        name="cleanrl",
        hash="abc123",
        path="trainer/venvs/cleanrl-abc123",
        python="3.11.9",
        extras=("atari",),
        packages={"torch": "2.13.0"},
        code_path="trainer/worker_code/cleanrl_worker-ff00",
        code_hash="ff00",
    )
    command = ("/venv/bin/python", "-m", "cleanrl_worker.cli", "a b", "\udcff")
    registry.set_launch(first, command, bundle)
    registry.set_launch(second, command, bundle)
    registry.set_resolved_config(first, b'{"type":"config"}')
    details = registry.details(first)
    assert details.command == (*command[:-1], "?")
    assert details.bundle == bundle
    assert details.resolved_json == b'{"type":"config"}'
    assert details.directory == f"trainer/runs/{first}"
    assert registry.bundle_uses() == {"cleanrl-abc123": 2}
    assert registry.code_uses() == {"cleanrl_worker-ff00"}
    registry.delete(first)
    assert registry.bundle_uses() == {"cleanrl-abc123": 1}
    registry.set_launch(second, ("python",), None)
    assert registry.bundle_uses() == {}
    assert registry.code_uses() == set()
    assert registry.details(second).bundle is None


def test_warnings(registry: RunRegistry, add_run: AddRun) -> None:
    """New warnings replace previous ones, and only changes add an event."""
    run_id = add_run().run_id
    seq = registry.last_event_seq()
    registry.set_warnings(run_id, ["no heartbeat for 30 s"])
    registry.set_warnings(run_id, ["no heartbeat for 30 s"])
    assert registry.get(run_id).warnings == ("no heartbeat for 30 s",)
    registry.set_warnings(run_id, [])
    assert registry.get(run_id).warnings == ()
    assert registry.last_event_seq() == seq + 2


def test_paused_time(registry: RunRegistry, add_run: AddRun) -> None:
    """It is stored, so that a time limit works across a daemon restart."""
    run_id = add_run().run_id
    assert registry.paused_seconds(run_id) == 0
    registry.set_paused_seconds(run_id, 12.5)
    assert registry.paused_seconds(run_id) == 12.5


def test_earlier_runs_with_the_same_configuration(registry: RunRegistry, clock: Clock) -> None:
    """Only successful runs with a valid duration, newest first, without paused time."""

    def run(seconds: float, end: RunState, **fields: object) -> str:
        run_id = registry.add(new_ulid(), config(**fields)).run_id
        finish(registry, run_id, end, ended_at=clock.now + seconds)
        return run_id

    first = run(100, RunState.SUCCEEDED)
    registry.set_paused_seconds(first, 40)
    registry.set_digests({first: RunStats(steps=50, sps=math.nan, rss_bytes=7)})
    second = run(200, RunState.SUCCEEDED)
    registry.set_digests({second: RunStats(steps=60, sps=3.5)})
    run(5, RunState.FAILED)
    run(5, RunState.SUCCEEDED, env_id="Taxi-v4")
    run(-3_600, RunState.SUCCEEDED)  # the clock was set back while it ran
    earlier = registry.earlier_runs("echo_worker", "echo", "CartPole-v1")
    assert earlier == [
        EarlierRun(duration_s=200, sps=3.5, rss_bytes=None, steps=60),
        EarlierRun(duration_s=60, sps=None, rss_bytes=7, steps=50),
    ]
    assert registry.earlier_runs("echo_worker", "echo", "CartPole-v1", limit=1) == earlier[:1]

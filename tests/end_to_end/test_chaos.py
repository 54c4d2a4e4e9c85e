"""Thirty runs while the daemon, workers and supervisors are killed at random."""

import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from mosaic.client import TrainerClient
from mosaic.client.daemon_process import start_daemon, stop_daemon
from mosaic.client.errors import TrainerError
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.run_states import RunState
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.processes.run_termination import find_members

pytestmark = pytest.mark.process

RUNS = 30
STEPS = 1500
RATE = 100
CHAOS_S = 10.0
LONG_CHAOS_S = 25.0
DAEMON_LIVES_S = (0.2, 4.0)
OPTIONS = ["--max-runs", str(RUNS - 6), "--cpus", str(RUNS)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "var")
    yield home
    with suppress(Exception):
        stop_daemon(home)
    for path in home.runs.glob("*"):
        started = StartedRecord.read(RunDirectory(path).started)
        for member in find_members(RunDirectory(path), started) if started else ():
            member.send(signal.SIGKILL)


def _kill_daemon(home: Home) -> None:
    endpoint = Endpoint.read(home.endpoint)
    if endpoint is not None:
        identity = ProcessIdentity(endpoint.pid, endpoint.start_ticks, endpoint.boot_id)
        identity.send(signal.SIGKILL)
        assert identity.wait(30)


def _kill_process(runs: list[RunDirectory], chance: random.Random) -> tuple[str, str] | None:
    """SIGKILL to the worker or, less often, the supervisor of a run; returns which."""
    run = chance.choice(runs)
    started = StartedRecord.read(run.started)
    if started is None or run.exit.exists():
        return None
    who = chance.choice(["worker", "worker", "supervisor"])
    pid, ticks = (
        (started.pid, started.start_ticks)
        if who == "worker"
        else (started.supervisor.pid, started.supervisor.start_ticks)
    )
    sent = ProcessIdentity(pid, ticks, started.boot_id).send(signal.SIGKILL)
    return (run.run_id, who) if sent else None


def _spool_steps(run: RunDirectory) -> list[object]:
    """The complete step lines; a killed worker may leave an incomplete one."""
    lines = run.spool.read_bytes().split(b"\n") if run.spool.exists() else []
    found = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            event = msgspec.json.decode(line)
            if event.get("type") == "step":
                found.append(event)
    return found


def _stored_steps(run: RunDirectory) -> list[object]:
    found: list[object] = []
    with TelemetryReader(run) as reader:
        seq = -1
        while chunks := reader.chunks_after("step", seq):
            for chunk in chunks:
                found += map(msgspec.json.decode, chunk.split())
                seq = chunk.first_seq + chunk.lines - 1
    return found


def _send_command(
    client: TrainerClient, ids: list[str], cancelled: set[str], chance: random.Random
) -> None:
    """Cancel, pause or resume a run, which may end at the same time."""
    victim, what = chance.choice(ids), chance.random()
    with suppress(TrainerError):
        if what < 0.2:
            cancelled.add(victim)  # before the call: its answer may be lost
            client.cancel(victim, grace_s=0.5)
        elif what < 0.4:
            client.pause(victim)
            if what < 0.3:
                client.resume(victim)


def _wake_all(client: TrainerClient) -> None:
    for run in client.runs(states=[RunState.PAUSED]):
        with suppress(TrainerError):
            client.resume(run.run_id)


@pytest.mark.long
def test_no_line_is_lost_and_every_run_ends_correctly(home: Home) -> None:
    """Whatever is killed, each run has the correct final state and every complete line."""
    kill_at_random(home, random.Random(3), CHAOS_S)


@pytest.mark.repetition
@pytest.mark.parametrize("seed", range(10))
def test_longer_and_with_other_seeds(home: Home, seed: int) -> None:
    """The same, with more kills."""
    kill_at_random(home, random.Random(seed), LONG_CHAOS_S)


def kill_at_random(home: Home, chance: random.Random, chaos_s: float) -> None:
    start_daemon(home, OPTIONS)
    config = {
        "worker": "echo_worker",
        "algo": "echo",
        "env_id": "Echo-v0",
        "params": {"steps": STEPS, "rate": RATE, "episode_length": 50},
    }
    with TrainerClient.connect(home) as client:
        ids = [client.submit(config).run_id for _ in range(RUNS)]
    runs = [home.run(run_id) for run_id in ids]
    killed: dict[str, str] = {}
    cancelled: set[str] = set()

    end = time.monotonic() + chaos_s
    while time.monotonic() < end:
        start_daemon(home, OPTIONS)
        down_at = time.monotonic() + chance.uniform(*DAEMON_LIVES_S)
        with TrainerClient.connect(home) as client:
            _send_command(client, ids, cancelled, chance)
            while time.monotonic() < down_at:
                if chance.random() < 0.15 and (hit := _kill_process(runs, chance)):
                    killed.setdefault(*hit)
                time.sleep(0.05)  # the pace of the chaos; nothing waits for it
        _kill_daemon(home)

    start_daemon(home, OPTIONS)
    with TrainerClient.connect(home) as client:
        _wake_all(client)
        states = {run_id: client.wait(run_id, 180).state for run_id in ids}
        counts = {run_id: client.stats(run_id) for run_id in ids if home.run(run_id).store.exists()}

    for run in runs:
        state = states[run.run_id]
        allowed = {RunState.SUCCEEDED}
        if run.run_id in killed:
            allowed = {RunState.FAILED} if killed[run.run_id] == "worker" else {RunState.LOST}
            # Both may have been hit, one after the other, before the daemon saw the first.
            allowed |= {RunState.FAILED, RunState.LOST} if not run.exit.exists() else set()
        if run.run_id in cancelled:
            allowed |= {RunState.CANCELLED}
        assert state in allowed, (run.run_id, state, killed.get(run.run_id))
        assert (
            _stored_steps(run) == _spool_steps(run)
            if run.store.exists()
            else not run.spool.exists()
        )
        if state is RunState.SUCCEEDED:
            assert counts[run.run_id].steps == STEPS
        started = StartedRecord.read(run.started)
        assert not (started and find_members(run, started)), "a process of a run that is over"
    assert killed
    assert any(state is RunState.SUCCEEDED for state in states.values())
    assert not list(home.quarantine.glob("*"))

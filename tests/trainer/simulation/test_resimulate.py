"""Replay of recorded episodes by a real daemon: frames, verification and failures."""

import os
import signal
import threading

import grpc
import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.client.resimulation import (
    FramesDone,
    Resimulation,
    SimulatedFrame,
    SimulationChecked,
)
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.simulation.conftest import Record, helpers_of

pytestmark = pytest.mark.process

ODD = "odd_environments:Odd-v0"


def get_frames(simulation: Resimulation, first: int, count: int = 0) -> list[SimulatedFrame]:
    """Request frames and return them in the order in which they arrive."""
    requested = simulation.request_frames(first, count)
    frames = []
    for part in simulation:
        if isinstance(part, SimulatedFrame) and part.request == requested:
            frames.append(part)
        elif part == FramesDone(request=requested):
            return frames
    raise AssertionError("the simulation ended before all frames arrived")


def get_checks(simulation: Resimulation) -> list[SimulationChecked]:
    return [part for part in simulation if isinstance(part, SimulationChecked)]


def get_failure(simulation: Resimulation) -> TrainerError:
    """Request all frames and return the error that ends the simulation."""
    with simulation:
        simulation.request_frames(0)
        with pytest.raises(TrainerError) as caught:
            list(simulation)
    return caught.value


def test_all_frames_of_an_episode(client: TrainerClient, record: Record) -> None:
    """One frame more than steps, in order; all steps match the recording."""
    run_id = record("LunarLander-v3")
    with client.resimulate(run_id, 0) as simulation:
        opened = simulation.opened
        simulation.request_frames(0)
        parts = []
        for part in simulation:
            parts.append(part)
            if isinstance(part, FramesDone):
                break
    frames = [part for part in parts if isinstance(part, SimulatedFrame)]
    assert opened.steps == 40
    assert opened.fps == 50
    assert opened.warnings == ()
    assert [frame.index for frame in frames] == list(range(41))
    assert {len(frame.pixels()) for frame in frames} == {400 * 600 * 3}
    checks = [part for part in parts if isinstance(part, SimulationChecked)]
    assert checks[-1] == SimulationChecked(steps=40, is_over=True)


def test_frames_can_be_requested_again(client: TrainerClient, record: Record) -> None:
    """In any order, each frame is the same as before."""
    with client.resimulate(record("LunarLander-v3"), 0) as simulation:
        sequential = [frame.zstd for frame in get_frames(simulation, 0)]
        for first, count in ((30, 3), (10, 2), (40, 1), (0, 1)):
            again = [frame.zstd for frame in get_frames(simulation, first, count)]
            assert again == sequential[first : first + count]


def test_every_episode_of_a_run(client: TrainerClient, record: Record) -> None:
    """Including episodes that were started without a seed in the same environment."""
    run_id = record("BipedalWalker-v3", episodes=4)
    for episode in range(4):
        with client.resimulate(run_id, episode, verify_only=True) as simulation:
            last = get_checks(simulation)[-1]
        assert last == SimulationChecked(steps=simulation.opened.steps, is_over=True)


def test_an_environment_that_is_not_deterministic(client: TrainerClient, record: Record) -> None:
    """The check has the first step that differs."""
    run_id = record(ODD, fault="differ", fault_step=11)
    with client.resimulate(run_id, 0, verify_only=True) as simulation:
        last = get_checks(simulation)[-1]
    assert last.first_difference == 11
    assert last.difference.startswith("step 11: reward ")
    assert last.is_over


def test_an_environment_that_crashes(client: TrainerClient, record: Record) -> None:
    """The error has the signal, the step and the last output; the daemon keeps running."""
    error = get_failure(client.resimulate(record(ODD, fault="crash", fault_step=6), 0))
    assert error.code == "T414"
    assert "SIGSEGV in step 6" in error.message
    assert "last output" in error.message
    assert "telemetry" in error.remedy
    assert client.health().version


def test_an_environment_that_raises(client: TrainerClient, record: Record) -> None:
    """The exception of a step or a reset is reported."""
    in_step = get_failure(client.resimulate(record(ODD, fault="raise", fault_step=6), 0))
    assert in_step.code == "T413"
    assert "failed in step 6: RuntimeError: step failed" in in_step.message
    in_reset = get_failure(client.resimulate(record(ODD, fault="raise in reset"), 0))
    assert "reset failed" in in_reset.message


def test_an_environment_without_frames(client: TrainerClient, record: Record) -> None:
    """Each frame has the reason why it is empty."""
    with client.resimulate(record(ODD, rendering="nothing"), 0) as simulation:
        frames = get_frames(simulation, 0)
    assert [frame.problem for frame in frames] == ["render() returned None."] * 21
    assert frames[0].pixels() == b""


def test_frames_of_changing_size(client: TrainerClient, record: Record) -> None:
    """Each frame has its own size."""
    with client.resimulate(record(ODD, rendering="growing"), 0) as simulation:
        frames = get_frames(simulation, 0)
    assert [frame.height for frame in frames] == [4 + index for index in range(21)]
    assert all(len(frame.pixels()) == frame.width * frame.height * 3 for frame in frames)


def test_a_helper_that_is_killed(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """The error names SIGKILL and the step."""
    with client.resimulate(record(ODD), 0) as simulation:
        get_frames(simulation, 0, 4)
        (pid,) = helpers_of(daemon)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(TrainerError) as caught:
            get_frames(simulation, 0)
    assert "SIGKILL after 3 steps" in caught.value.message


def test_concurrent_replays(client: TrainerClient, record: Record) -> None:
    """Each has its own environment and does not wait for the other."""
    run_id = record("LunarLander-v3")
    with client.resimulate(run_id, 0) as one, client.resimulate(run_id, 0) as other:
        for first in (0, 20, 10):
            pairs = zip(get_frames(one, first, 2), get_frames(other, first, 2), strict=True)
            assert all(left.zstd == right.zstd for left, right in pairs)


def test_more_replays_than_allowed(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """The ninth is rejected until another one is closed."""
    run_id = record(ODD)
    simulations: list[Resimulation] = []

    def try_open() -> bool:
        simulation = client.resimulate(run_id, 0)
        try:
            assert simulation.opened.steps == 20
        except TrainerError as error:
            if error.status != "RESOURCE_EXHAUSTED":
                raise
            return False  # replays of earlier tests are still being closed
        simulations.append(simulation)
        return True

    try:
        for _ in range(8):
            eventually(try_open)
        with client.resimulate(run_id, 0) as ninth, pytest.raises(TrainerError) as caught:
            _ = ninth.opened
        assert caught.value.status == "RESOURCE_EXHAUSTED"
        simulations.pop().close()
        eventually(try_open)
    finally:
        for simulation in simulations:
            simulation.close()
    eventually(lambda: not helpers_of(daemon))


def test_a_client_that_disconnects(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """Its helper process is killed, even one that hangs in native code."""
    for env_kwargs in ({}, {"fault": "hang in native code", "fault_step": 6}):
        simulation = client.resimulate(record(ODD, **env_kwargs), 0)
        simulation.request_frames(0, 6)
        assert next(part for part in simulation if isinstance(part, SimulatedFrame))
        simulation.request_frames(10)
        assert helpers_of(daemon)
        simulation.close()
        assert list(simulation) == []
        eventually(lambda: not helpers_of(daemon))


def test_closing_while_another_thread_waits(client: TrainerClient, record: Record) -> None:
    """The iteration ends without an error."""
    simulation = client.resimulate(record(ODD), 0)
    assert simulation.opened.steps == 20
    parts: list[object] = []
    waiting = threading.Thread(target=lambda: parts.extend(simulation))
    waiting.start()
    simulation.close()
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_run_that_cannot_be_replayed(client: TrainerClient) -> None:
    """The error has the reason, and says that the telemetry is available."""
    run_id = client.submit(
        {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": {"steps": 30}}
    ).run_id
    client.wait(run_id)
    with client.resimulate(run_id, 0) as simulation, pytest.raises(TrainerError) as caught:
        _ = simulation.opened
    assert caught.value.status == "FAILED_PRECONDITION"
    assert caught.value.code == "T410"
    assert "telemetry is still available" in caught.value.remedy


def test_unknown_episodes_and_runs(client: TrainerClient, record: Record) -> None:
    """Both are NOT_FOUND."""
    with client.resimulate(record(ODD), 7) as simulation, pytest.raises(TrainerError) as caught:
        next(simulation)
    assert caught.value.status == "NOT_FOUND"
    unknown = client.resimulate("01J0000000000000000000000Z", 0)
    with unknown, pytest.raises(TrainerError) as caught:
        _ = unknown.opened
    assert caught.value.status == "NOT_FOUND"


def test_invalid_requests(daemon: DaemonUnderTest, record: Record) -> None:
    """Each is rejected with the name of the field."""
    open_request = pb.ResimulateRequest(open=pb.OpenSimulation(run_id=record(ODD)))
    verify_request = pb.ResimulateRequest(
        open=pb.OpenSimulation(run_id=record(ODD), verify_only=True)
    )

    def frames(**fields: int) -> pb.ResimulateRequest:
        return pb.ResimulateRequest(frames=pb.SimulateFrames(**fields))

    for requests, field in (
        ([], "open"),
        ([frames(request=1)], "open"),
        ([open_request, open_request], "frames"),
        ([open_request, frames(request=0)], "frames.request"),
        ([open_request, frames(request=1, first=21)], "frames.first"),
        ([open_request, frames(request=1, first=-1)], "frames.first"),
        ([open_request, frames(request=1, count=-1)], "frames.count"),
        ([verify_request, frames(request=1)], "frames"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            list(daemon.stub.Resimulate(iter(requests), timeout=60))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT, requests
        assert f"`{field}`" in str(caught.value.details())


def test_a_client_that_ends_its_requests(daemon: DaemonUnderTest, record: Record) -> None:
    """The call ends after the last frame."""
    requests = [
        pb.ResimulateRequest(open=pb.OpenSimulation(run_id=record(ODD))),
        pb.ResimulateRequest(frames=pb.SimulateFrames(request=5, first=18)),
    ]
    parts = list(daemon.stub.Resimulate(iter(requests), timeout=60))
    assert parts[0].opened.steps == 20
    assert [part.frame.index for part in parts if part.HasField("frame")] == [18, 19, 20]
    assert parts[-1].HasField("done")


def test_a_replay_is_not_a_run(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """It is not listed as a run and adds no file to the run directory."""
    run_id = record("LunarLander-v3")
    before = {path.name for path in daemon.run(run_id).path.iterdir()}
    runs = len(list(client.runs()))
    with client.resimulate(run_id, 0) as simulation:
        get_frames(simulation, 0, 3)
        assert len(list(client.runs())) == runs
    assert {path.name for path in daemon.run(run_id).path.iterdir()} == before

"""Sessions on real environments: human, agent, and switching between them."""

import itertools
import threading
from dataclasses import replace

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import WaitTimeoutError
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import EpisodeLine, SessionPhase, SessionState
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord
from tests.client.sessions.conftest import until, until_running
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

LAKE = SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, frames=False)
TAXI = SessionRequest(env_id="Taxi-v4", actor="random", frames=False, params={"tick_ms": 10})
RIGHT, DOWN = 2, 1


def test_human_plays(session: SessionController, client: TrainerClient) -> None:
    """Each action is one step, in order, and the environment reports its action space."""
    session.start(LAKE)
    state = until_running(session)
    assert state.environment is not None
    assert state.environment.action_space["n"] == 4
    assert (state.actor, state.env_id, state.can_control) == ("human", "FrozenLake-v1", True)
    for action in (RIGHT, RIGHT, DOWN, DOWN, DOWN, RIGHT):
        session.act(action)
    state = until(session, lambda state: state.episodes_finished)
    assert state.episode is not None
    assert (state.episode.total_return, state.episode.steps) == (1.0, 6)
    steps = client.episode_steps(state.run_id, 0)
    assert [step.action for step in steps] == [RIGHT, RIGHT, DOWN, DOWN, DOWN, RIGHT]
    assert {step.actor for step in steps} == {"human"}
    assert state.dropped_actions == 0


def test_takeover_and_release(session: SessionController, client: TrainerClient) -> None:
    """Within an episode, in the same process; every step has its actor."""
    session.start(TAXI)
    until(session, lambda state: state.step and state.acting == "random")
    session.takeover()
    state = until(session, lambda state: state.acting == "human")
    assert state.is_taken_over
    assert state.actor == "random"
    for _ in range(3):
        session.act(0)
    until(session, lambda state: state.step and state.step.actor == "human")
    session.release()
    state = until(
        session,
        lambda state: state.step and state.step.actor == "random" and state.acting == "random",
    )
    assert not state.is_taken_over

    def has_human_steps() -> bool:
        steps = client.episode_steps(state.run_id, 0)
        actors = "".join("h" if step.actor == "human" else "r" for step in steps)
        return "rhhhr" in actors

    eventually(has_human_steps)


def test_pause(session: SessionController) -> None:
    """Pause, single steps and resume; the daemon's record has the state, too."""
    session.start(TAXI)
    until(session, lambda state: state.step)
    session.pause()
    state = until(session, lambda state: state.phase is SessionPhase.PAUSED)
    assert state.run is not None
    assert state.run.state == "paused"
    session.reset(seed=7)
    state = until(session, lambda state: state.episode and state.episode.seed == 7)
    session.step(2)
    until(session, lambda state: state.episode and state.episode.steps == 2)
    session.resume()
    until(
        session,
        lambda state: (
            state.phase is SessionPhase.RUNNING and state.episode and state.episode.steps > 2
        ),
    )


def test_environment_with_other_arguments(session: SessionController) -> None:
    """They take effect at the next reset, in the same session."""
    session.start(LAKE)
    until_running(session)
    session.configure(env_kwargs={"map_name": "8x8"}, auto_reset=False)
    session.reset()
    state = until(
        session, lambda state: state.environment and state.environment.observation_space["n"] == 64
    )
    assert state.phase is SessionPhase.RUNNING


def test_worker_rejection(session: SessionController) -> None:
    """An invalid action is reported, and the session continues."""
    session.start(LAKE)
    until_running(session)
    session.act("upwards")
    state = until(session, lambda state: state.last_log and state.last_log.level != "info")
    assert state.last_log is not None
    assert "action" in state.last_log.message
    session.act(DOWN)
    until(session, lambda state: state.step and state.step.action == DOWN)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (SessionRequest(env_id="FrozenLark-v1"), "FrozenLark-v1"),
        (SessionRequest(env_id="FrozenLake-v1", env_kwargs={"no_such": 1}), "no_such"),
        (SessionRequest(env_id="FrozenLake-v1", actor="scripted:no_such:Actor"), "no_such"),
    ],
)
def test_invalid_session_is_rejected(
    session: SessionController, request_: SessionRequest, expected: str
) -> None:
    """Nothing is raised: the state contains the problem and the remedy."""
    session.start(request_)
    state = until(session, lambda state: state.phase is SessionPhase.FINISHED)
    assert state.error is not None
    assert expected in state.error.message
    assert state.error.remedy


def test_commands_without_a_session(session: SessionController) -> None:
    """An invalid call is an error in the state, not an exception."""
    session.takeover()
    state = until(session, lambda state: state.error)
    assert state.error is not None
    assert (state.phase, state.error.code) == (SessionPhase.IDLE, "C214")
    session.start(SessionRequest(env_id="FrozenLake-v1", seed=-1))
    state = until(session, lambda state: state.error)
    assert state.error is not None
    assert "seed" in state.error.message


def test_controller_never_blocks(session: SessionController) -> None:
    """One thread of the session runs all commands and calls `on_change`."""
    seen: list[tuple[str, SessionState]] = []
    with SessionController(
        session._engine._client,
        on_change=lambda state: seen.append((threading.current_thread().name, state)),
    ) as controller:
        controller.start(LAKE)
        until_running(controller)
        controller.stop()
        until(controller, lambda state: state.phase is SessionPhase.FINISHED)
    assert {name for name, _ in seen} == {"session"}
    assert [state.phase for _, state in seen][-1] is SessionPhase.FINISHED
    assert all(before != after for (_, before), (_, after) in itertools.pairwise(seen))


def test_two_sessions_at_once(session: SessionController, client: TrainerClient) -> None:
    """They are independent, and two clients can control the same run."""
    with SessionController(client) as other, SessionController(client) as second_client:
        session.start(LAKE)
        other.start(TAXI)
        until(other, lambda state: state.step)
        until_running(session)
        second_client.attach(session.state.run_id)
        until_running(second_client)
        second_client.act(RIGHT)
        until(session, lambda state: state.step and state.step.action == RIGHT)
        other.stop()
        until(other, lambda state: state.phase is SessionPhase.FINISHED)
        assert session.state.phase is SessionPhase.RUNNING


def test_attaching(session: SessionController, client: TrainerClient) -> None:
    """A training run can only be watched; a finished run is rejected."""
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"}
    params = {"steps": 1_000_000, "rate": 50}
    run_id = client.submit({**config, "params": params, "telemetry": {"frames": True}}).run_id
    session.attach(run_id)
    state = until(session, lambda state: state.step)
    assert (state.can_control, state.actor) == (False, "echo_worker")
    eventually(session.newest_frame)
    session.stop()
    state = until(session, lambda state: state.error)
    assert state.error is not None
    assert state.error.code == "C215"
    client.cancel(run_id)
    until(session, lambda state: state.phase is SessionPhase.FINISHED)
    session.attach(run_id)
    state = until(session, lambda state: state.error)
    assert state.error is not None
    assert state.error.code == "C213"


@pytest.mark.parametrize("is_local", [True, False])
def test_frames(shared_daemon: DaemonUnderTest, is_local: bool) -> None:
    """The newest frame, from the run's file or from the daemon."""
    connected = TrainerClient.connect(shared_daemon.home)
    if not is_local:
        connected.close()
        connected = TrainerClient(shared_daemon.address, shared_daemon.token)
    with connected as client, SessionController(client) as session:
        session.start(SessionRequest(env_id="CartPole-v1", actor="random"))
        first = eventually(session.newest_frame)
        assert (first.width, first.height, first.channels) == (600, 400, 3)
        assert len(first.pixels) == 600 * 400 * 3
        newer = eventually(lambda: session.newest_frame(first.number))
        assert newer.number > first.number
        session.stop()
        until(session, lambda state: state.phase is SessionPhase.FINISHED)


def test_wait_on_closed_session(client: TrainerClient) -> None:
    """It raises immediately, because the state cannot change."""
    session = SessionController(client)
    session.close()
    with pytest.raises(WaitTimeoutError, match="closed"):
        session.wait(lambda _: False, timeout_s=3600)


def test_closed_session_leaves_no_threads(client: TrainerClient) -> None:
    """No thread remains, and commands submitted before are completed."""
    before = set(threading.enumerate())
    with SessionController(client) as session:
        session.start(LAKE)
        run_id = until_running(session).run_id
        session.stop()
    assert client.wait(run_id, 60).state == "cancelled"
    eventually(lambda: not _sessions(before))
    session.act(1)
    session.close()


def _sessions(before: set[threading.Thread]) -> list[threading.Thread]:
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and thread.name.startswith("session")
    ]


def test_policy_of_actor(session: SessionController) -> None:
    """The planner reports a policy; an actor without one clears it."""
    session.start(replace(LAKE, actor="scripted", params={"start_paused": True}))
    state = until(session, lambda state: state.policy)
    assert state.policy is not None
    assert state.policy.states == 16
    session.switch_actor("random")
    state = until(session, lambda state: state.actor == "random" and state.policy is None)
    assert state.environment is not None


def test_every_line_is_drained_once(client: TrainerClient) -> None:
    """A consumer that is slower than the run gets every step, also those after its end."""
    lines: list[EpisodeLine] = []
    with SessionController(client, max_lines=5) as session:
        session.start(replace(TAXI, episodes=2, params={"tick_ms": 1}))
        run_id = until(session, lambda state: state.run_id).run_id

        client.wait(run_id, timeout_s=60)
        stored = [(step.episode_id, step.step) for _, step in client.steps(run_id)]

        def steps() -> list[tuple[str, int]]:
            lines.extend(session.drain_lines(session.state.run_id))
            return [(line.episode_id, line.step) for line in lines if isinstance(line, StepRecord)]

        eventually(lambda: len(steps()) >= len(stored))
        until(session, lambda state: state.phase is SessionPhase.FINISHED)
        assert steps() == stored
    assert sum(isinstance(line, EpisodeStart) for line in lines) == 2
    assert sum(isinstance(line, EpisodeEnd) for line in lines) == 2

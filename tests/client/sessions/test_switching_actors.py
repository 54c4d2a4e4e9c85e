"""Switching the actor of a session: if it fails, the previous actor keeps acting."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from tests.client.sessions.conftest import until, until_running
from tests.support.daemon import eventually

pytestmark = pytest.mark.process

TAXI = SessionRequest(env_id="Taxi-v4", actor="random", frames=False, params={"tick_ms": 10})


@pytest.fixture
def playing(session: SessionController) -> Iterator[SessionController]:
    """A session with the random actor."""
    session.start(TAXI)
    until(session, lambda state: state.step and state.acting == "random")
    yield session
    until(session, lambda state: not state.switching_to)


def _assert_still_plays(session: SessionController, run_id: str) -> None:
    state = until(session, lambda state: state.phase is SessionPhase.RUNNING)
    assert (state.run_id, state.actor, state.switching_to) == (run_id, "random", "")
    assert state.step is not None
    last_step = state.step
    until(session, lambda state: state.step != last_step)


def test_switch_within_process(playing: SessionController) -> None:
    """An actor of the same worker acts in the same run and episode."""
    run_id = playing.state.run_id
    playing.switch_actor("human")
    state = until(playing, lambda state: state.actor == "human")
    assert (state.run_id, state.acting, state.is_taken_over) == (run_id, "human", False)
    playing.act(0)
    until(playing, lambda state: state.step and state.step.actor == "human")
    playing.switch_actor("random")
    until(playing, lambda state: state.step and state.step.actor == "random")
    assert playing.state.run_id == run_id


def test_actor_selected_by_another_client(
    playing: SessionController, client: TrainerClient
) -> None:
    """Clients that attach before or after both know the selected actor."""
    run_id = playing.state.run_id
    playing.switch_actor("human")
    until(playing, lambda state: state.actor == "human")
    with SessionController(client) as other:
        other.attach(run_id)
        state = until(other, lambda state: state.acting == "human")
        assert (state.actor, state.is_taken_over) == ("human", False)
        other.switch_actor("random")
        until(other, lambda state: state.step and state.step.actor == "random")
    until(playing, lambda state: (state.actor, state.acting) == ("random", "random"))


def test_return_to_actor_after_takeover(playing: SessionController) -> None:
    """Selecting the current actor releases a takeover."""
    playing.takeover()
    until(playing, lambda state: state.is_taken_over)
    playing.switch_actor("random")
    state = until(playing, lambda state: state.acting == "random")
    assert (state.actor, state.is_taken_over) == ("random", False)


def test_actor_that_cannot_be_loaded(playing: SessionController) -> None:
    """The worker rejects it, and the previous actor keeps acting."""
    run_id = playing.state.run_id
    playing.switch_actor("scripted:no_such_module:Actor")
    state = until(playing, lambda state: state.error)
    assert state.error is not None
    assert "no_such_module" in state.error.message
    _assert_still_plays(playing, run_id)


def test_policy_of_another_worker(playing: SessionController, client: TrainerClient) -> None:
    """It plays in another run; the first one pauses, and ends after the new one's first step."""
    before = playing.state.run_id
    playing.switch_actor("steady_worker")
    state = until(playing, lambda state: state.actor == "steady_worker")
    assert state.run_id != before
    assert state.step is not None
    assert state.step.action == 2
    record = client.wait(before, 60)
    assert record.state == "cancelled"
    assert record.reason == f"The session continued in run {state.run_id}."
    states = [change.state for change in client.run(before).history]
    assert states[-3:] == ["paused", "stopping", "cancelled"]
    playing.switch_actor("human")  # every worker in play mode provides it
    until(playing, lambda state: state.acting == "human")
    playing.act(1)
    until(playing, lambda state: state.step and state.step.actor == "human")
    playing.switch_actor("steady_worker")  # an actor of this run can be selected again
    until(playing, lambda state: state.acting != "human" and state.actor == "steady_worker")
    assert playing.state.run_id == state.run_id


def test_saved_policy(playing: SessionController, client: TrainerClient, tmp_path: Path) -> None:
    """A checkpoint acts in the worker that saved it, which gets the file of that checkpoint."""
    (tmp_path / "policy.json").write_text("3")
    saved = client.import_checkpoint(
        tmp_path / "policy.json",
        worker="learned_worker",
        algo="learned",
        env_id=playing.state.env_id,
    )
    playing.switch_actor(saved.checkpoint_id)
    state = until(playing, lambda state: state.error or state.actor == saved.checkpoint_id)
    assert state.error is None
    assert state.step is not None
    assert state.step.action == 3


def test_worker_that_fails_to_start(playing: SessionController, client: TrainerClient) -> None:
    """The session continues with the previous actor and reports the problem."""
    run_id = playing.state.run_id
    playing.switch_actor("broken_worker")
    state = until(playing, lambda state: state.error)
    assert state.error is not None
    assert "The policy has no weights." in state.error.message
    assert state.error.remedy == "Train it first."
    _assert_still_plays(playing, run_id)
    states = [change.state for change in client.run(run_id).history]
    assert states[-2:] == ["paused", "running"]


@pytest.mark.parametrize("actor", ["no_such_worker", "echo_worker"])
def test_unknown_actors(playing: SessionController, actor: str) -> None:
    """The session is not paused for them."""
    run_id = playing.state.run_id
    playing.switch_actor(actor)
    state = until(playing, lambda state: state.error)
    assert state.error is not None
    assert actor in state.error.message
    _assert_still_plays(playing, run_id)


def test_environment_unsupported_by_actor(session: SessionController) -> None:
    """It is rejected before anything is started."""
    session.start(SessionRequest(env_id="CartPole-v1", actor="random", frames=False))
    until(session, lambda state: state.step)
    session.switch_actor("steady_worker")
    state = until(session, lambda state: state.error)
    assert state.error is not None
    assert state.error.code == "C221"
    assert "toy-text" in state.error.remedy


def test_cancelled_switch(playing: SessionController, client: TrainerClient) -> None:
    """Switching to the current actor cancels the run of the next one."""
    run_id = playing.state.run_id
    playing.switch_actor("steady_worker")
    playing.switch_actor("random")
    _assert_still_plays(playing, run_id)
    runs = list(client.runs(worker="steady_worker"))
    eventually(lambda: client.run(runs[0].run_id).run.state.is_final)


def test_environment_continues_with_policy_of_another_worker(
    session: SessionController, client: TrainerClient, tmp_path: Path
) -> None:
    """With the current configuration, limits, step detail and user modules."""
    session.start(
        SessionRequest(
            env_id="Taxi-v4",
            actor="random",
            frames=False,
            steps="columns",
            total_timesteps=1_000_000,
            python_path=(str(tmp_path),),
        )
    )
    until_running(session)
    session.configure(env_kwargs={"is_rainy": True})
    session.reset()
    until(session, lambda state: state.environment and state.environment.env_kwargs)
    session.switch_actor("steady_worker")
    state = until(session, lambda state: state.actor == "steady_worker" or state.error)
    assert state.error is None
    config = load_run_config(client.run(state.run_id).config_json)
    assert config.env_kwargs == {"is_rainy": True}
    assert (config.telemetry.steps, config.total_timesteps) == ("columns", 1_000_000)
    assert config.python_path == (str(tmp_path),)


def test_close_during_switch(client: TrainerClient) -> None:
    """The run of the next actor is cancelled, and the previous one resumes."""
    with SessionController(client) as session:
        session.start(TAXI)
        run_id = until_running(session).run_id
        session.switch_actor("steady_worker")
        until(session, lambda state: state.switching_to)
    assert client.run(run_id).run.state is RunState.RUNNING
    later = [run for run in client.runs() if run.run_id > run_id]
    assert [run.worker for run in later] == ["steady_worker"]
    eventually(lambda: client.run(later[0].run_id).run.state is RunState.CANCELLED)
    client.cancel(run_id)


def test_new_session_after_previous_one_ended(
    playing: SessionController, client: TrainerClient
) -> None:
    """Also if the client has not yet received the end."""
    run_id = playing.state.run_id
    client.cancel(run_id)
    eventually(lambda: client.run(run_id).run.state.is_final)
    playing.start(TAXI)
    state = until(playing, lambda state: state.error or (state.run_id != run_id and state.step))
    assert state.error is None


def test_new_session_replaces_running_one(
    playing: SessionController, client: TrainerClient
) -> None:
    """Starting during a session is a handover: the old run ends after the new one has started."""
    before = playing.state.run_id
    playing.start(SessionRequest(env_id="FrozenLake-v1", frames=False))
    state = until(playing, lambda state: state.env_id == "FrozenLake-v1")
    assert until_running(playing).run_id == state.run_id
    assert client.wait(before, 60).state == "cancelled"

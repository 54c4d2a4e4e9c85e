"""ActorService: available actors, their order, and why some are unavailable."""

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.client.sessions.actor_service import ActorService
from mosaic.contract.run_config import RunConfigError

pytestmark = pytest.mark.process


@pytest.fixture
def service(client: TrainerClient) -> ActorService:
    return ActorService(client)


def test_order_of_actors(service: ActorService) -> None:
    """The human first, then workers that play, then other actors of the session worker."""
    actors = service.actors()
    assert actors[0].label == "Human-Only"
    ids = [actor.id for actor in actors]
    assert ids.index("broken_worker") < ids.index("steady_worker") < ids.index("random")
    assert "echo_worker" not in ids  # only trains
    assert "session_worker" not in ids  # provides actors, but is not one
    assert all(actor.label and actor.source for actor in actors)
    unavailable = [actor for actor in actors if not actor.is_available]
    assert all(actor.problem and actor.remedy for actor in unavailable)


def test_availability_depends_on_environment(service: ActorService) -> None:
    """An actor that does not support the environment is listed with the reason."""
    in_lake = {actor.id: actor for actor in service.actors("FrozenLake-v1")}
    in_cart_pole = {actor.id: actor for actor in service.actors("CartPole-v1")}
    assert in_lake["steady_worker"].is_available
    assert not in_cart_pole["steady_worker"].is_available
    assert "CartPole-v1" in in_cart_pole["steady_worker"].problem
    assert in_cart_pole["human"].is_available
    assert in_cart_pole["random"].is_available


def test_saved_policies(service: ActorService, client: TrainerClient) -> None:
    """Policies for the environment are actors; unusable ones have a reason."""
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": {"steps": 9}}
    run = client.wait(client.submit(config).run_id, 60)
    saved = [actor for actor in service.actors("Echo-v0") if actor.source == "checkpoint"]
    assert len(saved) == 1
    assert saved[0].label == "echo · Echo-v0 · step 9"
    assert run.run_id in saved[0].id or saved[0].checkpoint_id == saved[0].id
    assert not saved[0].is_available
    assert "cannot play" in saved[0].problem
    assert not [actor for actor in service.actors("Taxi-v4") if actor.source == "checkpoint"]


def test_run_config_of_actor(service: ActorService) -> None:
    """It has the worker, the actor, the extras of the environment, and the lease."""
    config = service.make_run_config("random", "FrozenLake-v1", episodes=3, params={"speed": 0.0})
    assert (config.worker, config.mode, config.algo, config.actor) == (
        *("session_worker", "play", "random", "random"),
    )
    assert (config.episodes, config.lease_s, config.bundle) == (3, 30.0, None)
    ant = service.make_run_config("human", "Ant-v5")
    assert ant.bundle is not None
    assert (ant.bundle.name, ant.bundle.extras) == ("session_worker", ("mujoco",))
    scripted = service.make_run_config("scripted:my_bots:Cautious", "Taxi-v4", lease_s=None)
    assert (scripted.algo, scripted.actor, scripted.lease_s) == (
        *("scripted", "scripted:my_bots:Cautious", None),
    )
    steady = service.make_run_config("steady_worker", "Taxi-v4")
    assert (steady.worker, steady.algo, steady.actor) == ("steady_worker", "steady", None)


def test_invalid_run_configurations(service: ActorService) -> None:
    """They are rejected with a remedy."""
    with pytest.raises(TrainerError, match="no_such") as unknown:
        service.make_run_config("no_such", "Taxi-v4")
    assert "random" in unknown.value.remedy
    with pytest.raises(TrainerError, match="CartPole-v1"):
        service.make_run_config("steady_worker", "CartPole-v1")
    with pytest.raises(RunConfigError, match="episodes"):
        service.make_run_config("random", "Taxi-v4", episodes=0)

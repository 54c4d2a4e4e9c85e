"""What a configuration asks of a worker is compared with what the worker says it can."""

from typing import Any

import pytest

from mosaic.contract.readiness import CheckStatus
from mosaic.trainer.preflight import worker_checks
from tests.trainer.preflight.conftest import candidate, config, only

LEARNING_RATE = {"name": "learning_rate", "type": "float", "default": 0.1, "min": 0, "max": 1}
PPO = {"id": "ppo", "parameters": [LEARNING_RATE]}


def test_a_mode_that_the_worker_lacks_blocks() -> None:
    """The remedy names the modes it has."""
    item = only(worker_checks.check_mode(candidate(config(mode="sweep"), modes=["train", "play"])))
    assert item.status is CheckStatus.BLOCKING
    assert "`train`, `play`" in item.remedy


def test_an_unknown_algorithm_blocks_with_the_one_that_was_meant() -> None:
    """A slip of the finger costs one look."""
    item = only(worker_checks.check_algorithm(candidate(config(algo="pppo"))))
    assert item.status is CheckStatus.BLOCKING
    assert "Did you mean `ppo`?" in item.remedy


def test_every_wrong_parameter_blocks_by_its_name() -> None:
    """All of them at once, each with what would be right."""
    requested = config(params={"learning_rate": 7, "gama": 0.9})
    items = list(worker_checks.check_parameters(candidate(requested, algorithms=[PPO])))
    assert {item.status for item in items} == {CheckStatus.BLOCKING}
    text = " ".join(item.message for item in items)
    assert "`params.learning_rate`" in text
    assert "`params.gama`" in text
    assert all(item.remedy for item in items)


def test_parameters_in_order_are_ok() -> None:
    """Those not given have defaults."""
    requested = config(params={"learning_rate": 0.5})
    item = only(worker_checks.check_parameters(candidate(requested, algorithms=[PPO])))
    assert item.status is CheckStatus.OK


def test_a_script_that_only_the_worker_can_find_is_left_to_it() -> None:
    """Nothing is known of it here, and the worker's algorithms are not meant."""
    requested = candidate(config(algo=None, script="cleanrl.ppo", params={"x": 1}), algorithms=[])
    assert list(worker_checks.check_parameters(requested)) == []
    item = only(worker_checks.check_algorithm(requested))
    assert item.status is CheckStatus.OK
    assert "cleanrl.ppo" in item.message


def test_a_single_algorithm_need_not_be_named() -> None:
    """To play or evaluate, the worker takes the one it has; its parameters are checked."""
    requested = candidate(config(algo=None, mode="play", params={"x": 1}), algorithms=[PPO])
    assert only(worker_checks.check_algorithm(requested)).status is CheckStatus.OK
    assert only(worker_checks.check_parameters(requested)).status is CheckStatus.BLOCKING


@pytest.mark.parametrize(
    ("environments", "status"),
    [
        ({"any": True}, CheckStatus.OK),
        ({"ids": ["CartPole-v1"]}, CheckStatus.OK),
        ({"families": ["classic_control"]}, CheckStatus.OK),
        ({"ids": ["CartPole-v0", "Taxi-v3"]}, CheckStatus.BLOCKING),
        ({}, CheckStatus.WARNING),
    ],
)
def test_an_environment_must_be_one_that_the_worker_knows(
    environments: dict[str, Any], status: CheckStatus
) -> None:
    """A list decides; families cannot be judged without the worker; saying nothing is odd."""
    item = only(worker_checks.check_environment(candidate(environments=environments)))
    assert item.status is status


def test_an_algorithm_for_other_environments_blocks() -> None:
    """The remedy names those that take this one; of what no catalog has nothing is said."""
    algorithms = [{"id": "ppo"}, {"id": "ppo_atari", "families": ["atari"]}]
    requested = candidate(config(algo="ppo_atari"), algorithms=algorithms)
    items = list(worker_checks.check_environment(requested))
    assert items[0].status is CheckStatus.BLOCKING
    assert "supports `atari`" in items[0].message
    assert items[0].remedy == "Choose `ppo` for it."
    for fits in (config(algo="ppo"), config(algo="ppo_atari", env_id="Own-v0")):
        item = only(worker_checks.check_environment(candidate(fits, algorithms=algorithms)))
        assert item.status is CheckStatus.OK


def test_an_unknown_environment_names_the_closest() -> None:
    """And the first of the others."""
    ids = ["CartPole-v0", *(f"Other-v{n}" for n in range(20))]
    item = only(worker_checks.check_environment(candidate(environments={"ids": ids})))
    assert "Did you mean `CartPole-v0`?" in item.remedy
    assert "13 more" in item.remedy


@pytest.mark.parametrize(
    ("requested", "described", "status"),
    [
        ({"warm_start": "c1"}, {}, CheckStatus.BLOCKING),
        ({"warm_start": "c1"}, {"supports": {"warm_start": True}}, CheckStatus.OK),
        (
            {"warm_start": "c1", "algo": None, "script": "own.py"},
            {"supports": {"warm_start": True}},
            CheckStatus.BLOCKING,
        ),
        ({"dataset": "d1"}, {}, CheckStatus.BLOCKING),
        ({"dataset": "d1"}, {"needs": {"dataset": True}}, CheckStatus.OK),
        ({}, {"needs": {"dataset": True}}, CheckStatus.BLOCKING),
    ],
)
def test_a_starting_point_is_used_or_rejected(
    requested: dict[str, Any], described: dict[str, Any], status: CheckStatus
) -> None:
    """None is silently ignored, and one that is needed is asked for."""
    item = only(worker_checks.check_starting_point(candidate(config(**requested), **described)))
    assert item.status is status


def test_a_run_from_nothing_has_no_starting_point() -> None:
    """Nothing is said of what was not requested."""
    assert list(worker_checks.check_starting_point(candidate())) == []


def test_a_launcher_that_is_not_here_blocks() -> None:
    """Ray is an option that not every daemon has."""
    requested = candidate(config(launcher="ray"))
    item = only(worker_checks.check_launcher(requested, ["local"]))
    assert item.status is CheckStatus.BLOCKING
    assert "`local`" in item.remedy
    assert list(worker_checks.check_launcher(requested, ["local", "ray"])) == []

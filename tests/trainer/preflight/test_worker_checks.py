"""Checks of a configuration against the descriptor of the worker."""

from typing import Any

import pytest

from mosaic.contract.readiness import CheckStatus
from mosaic.trainer.preflight import worker_checks
from tests.trainer.preflight.conftest import candidate, config, only

LEARNING_RATE = {"name": "learning_rate", "type": "float", "default": 0.1, "min": 0, "max": 1}
PPO = {"id": "ppo", "parameters": [LEARNING_RATE]}


def test_an_unsupported_mode_blocks() -> None:
    """The remedy lists the supported modes."""
    item = only(worker_checks.check_mode(candidate(config(mode="sweep"), modes=["train", "play"])))
    assert item.status is CheckStatus.BLOCKING
    assert "`train`, `play`" in item.remedy


def test_an_unknown_algorithm_blocks_with_a_suggestion() -> None:
    """The remedy suggests a similar id."""
    item = only(worker_checks.check_algorithm(candidate(config(algo="pppo"))))
    assert item.status is CheckStatus.BLOCKING
    assert "Did you mean `ppo`?" in item.remedy


def test_every_invalid_parameter_blocks() -> None:
    """Each has an item with its name and a remedy."""
    requested = config(params={"learning_rate": 7, "gama": 0.9})
    items = list(worker_checks.check_parameters(candidate(requested, algorithms=[PPO])))
    assert {item.status for item in items} == {CheckStatus.BLOCKING}
    text = " ".join(item.message for item in items)
    assert "`params.learning_rate`" in text
    assert "`params.gama`" in text
    assert all(item.remedy for item in items)


def test_valid_parameters_are_ok() -> None:
    """Omitted parameters have defaults."""
    requested = config(params={"learning_rate": 0.5})
    item = only(worker_checks.check_parameters(candidate(requested, algorithms=[PPO])))
    assert item.status is CheckStatus.OK


def test_a_script_module_is_checked_by_the_worker_only() -> None:
    """Its parameters are unknown, and the worker's algorithms do not apply."""
    requested = candidate(config(algo=None, script="cleanrl.ppo", params={"x": 1}), algorithms=[])
    assert list(worker_checks.check_parameters(requested)) == []
    item = only(worker_checks.check_algorithm(requested))
    assert item.status is CheckStatus.OK
    assert "cleanrl.ppo" in item.message


def test_a_single_algorithm_is_the_default() -> None:
    """It is used to play or evaluate, and its parameters are checked."""
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
def test_an_environment_must_be_supported_by_the_worker(
    environments: dict[str, Any], status: CheckStatus
) -> None:
    """Ids are checked; families are accepted; an empty descriptor is a warning."""
    item = only(worker_checks.check_environment(candidate(environments=environments)))
    assert item.status is status


def test_an_algorithm_for_other_environments_blocks() -> None:
    """The remedy names a suitable algorithm; unknown environments are not checked."""
    algorithms = [{"id": "ppo"}, {"id": "ppo_atari", "families": ["atari"]}]
    requested = candidate(config(algo="ppo_atari"), algorithms=algorithms)
    items = list(worker_checks.check_environment(requested))
    assert items[0].status is CheckStatus.BLOCKING
    assert "supports `atari`" in items[0].message
    assert items[0].remedy == "Choose `ppo` for it."
    for supported in (config(algo="ppo"), config(algo="ppo_atari", env_id="Own-v0")):
        item = only(worker_checks.check_environment(candidate(supported, algorithms=algorithms)))
        assert item.status is CheckStatus.OK


def test_an_unknown_environment_names_the_closest() -> None:
    """The remedy also lists some of the others."""
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
def test_a_warm_start_or_dataset_is_used_or_rejected(
    requested: dict[str, Any], described: dict[str, Any], status: CheckStatus
) -> None:
    """It is never ignored, and a required dataset must be given."""
    item = only(worker_checks.check_starting_point(candidate(config(**requested), **described)))
    assert item.status is status


def test_a_run_without_a_starting_point_has_no_item() -> None:
    """The check has no items if nothing was requested."""
    assert list(worker_checks.check_starting_point(candidate())) == []


def test_an_unavailable_launcher_blocks() -> None:
    """The remedy lists the available launchers."""
    requested = candidate(config(launcher="ray"))
    item = only(worker_checks.check_launcher(requested, ["local"]))
    assert item.status is CheckStatus.BLOCKING
    assert "`local`" in item.remedy
    assert list(worker_checks.check_launcher(requested, ["local", "ray"])) == []

"""Worker descriptors: what they declare is used, everything else is unsupported."""

import json
from typing import Any

import pytest

from mosaic.contract.descriptor import (
    DescriptorError,
    WorkerCapabilities,
    decode_descriptor,
    validate_params,
)

DESCRIPTOR: dict[str, Any] = {
    "worker": "cleanrl_worker",
    "label": "CleanRL Worker",
    "version": "1.0",
    "summary": "Single-file learners.",
    "lane": "hybrid",
    "modes": ["train", "evaluate"],
    "algorithms": [
        {
            "id": "ppo",
            "label": "PPO",
            "doc": "Proximal policy optimisation.",
            "parameters": [
                {
                    "name": "learning_rate",
                    "type": "float",
                    "default": 2.5e-4,
                    "min": 0,
                    "max": 1,
                    "choices": [],
                    "unit": "",
                    "group": "optimiser",
                    "help": "Step size.",
                    "search": [1e-5, 1e-2],
                    "log": True,
                },
                {"name": "num_envs", "type": "int", "default": 4, "min": 1, "max": None},
                {"name": "anneal_lr", "type": "bool", "default": True},
                {"name": "device", "type": "choice", "default": "cpu", "choices": ["cpu", "cuda"]},
                {"name": "target_kl", "type": "float", "default": None},
                {"name": "tag", "type": "str", "default": ""},
                {"name": "frame_skip", "type": "choice", "default": 4, "choices": [1, 4, 0.5]},
            ],
            "action_spaces": ["discrete"],
            "gpu": "optional",
            "recommended": {"atari": {"num_envs": 8}},
        },
        {"id": "dqn"},
    ],
    "environments": {"families": ["classic-control"], "any": False, "ids": ["ALE/Pong-v5"]},
    "supports": {"pause": True},
    "needs": {"bundle": "cleanrl", "extras": ["atari"], "credentials": ["WANDB_API_KEY"]},
    "tabs": ["beliefs"],
    "licence": ["MIT"],
}


def encoded(**changes: Any) -> bytes:
    return json.dumps(DESCRIPTOR | changes).encode()


def test_descriptor_is_read() -> None:
    """Every section of the descriptor is decoded."""
    descriptor = decode_descriptor(encoded())
    ppo = descriptor.algorithm("ppo")
    assert ppo is not None
    assert ppo.parameters[0].max == 1
    assert (ppo.parameters[0].search, ppo.parameters[0].log) == ((1e-5, 1e-2), True)
    assert (ppo.parameters[1].search, ppo.parameters[1].log) == (None, False)
    assert ppo.gpu == "optional"
    assert descriptor.environments.ids == ("ALE/Pong-v5",)
    assert descriptor.needs.credentials == ("WANDB_API_KEY",)
    assert descriptor.tabs == ("beliefs",)


def test_undeclared_capabilities_are_unsupported() -> None:
    """A capability that the descriptor omits is off."""
    descriptor = decode_descriptor(b'{"worker": "tiny"}')
    assert descriptor.supports == WorkerCapabilities()
    assert not any(
        getattr(descriptor.supports, name) for name in WorkerCapabilities.__struct_fields__
    )
    assert descriptor.modes == ()
    assert not descriptor.environments.any
    assert decode_descriptor(encoded()).supports.pause


def test_later_fields_are_ignored() -> None:
    """A worker may be newer than the workbench."""
    descriptor = decode_descriptor(encoded(colour="red", supports={"pause": True, "fly": True}))
    assert descriptor.supports.pause


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"worker": None}, "worker"),
        ({"lane": "fast"}, "lane"),
        ({"modes": ["train", "dance"]}, "modes[1]"),
        ({"supports": {"pause": "yes"}}, "supports.pause"),
        ({"needs": {"network": 1}}, "needs.network"),
        ({"algorithms": [{"label": "x"}]}, "algorithms[0].id"),
        ({"algorithms": [{"id": "a"}, {"id": "a"}]}, "algorithms[1].id"),
        ({"algorithms": [{"id": "a", "gpu": "maybe"}]}, "algorithms[0].gpu"),
        (
            {"algorithms": [{"id": "a", "recommended": {"atari": {"lr": 1}}}]},
            "algorithms[0].recommended.atari.lr",
        ),
    ],
)
def test_wrong_field_is_named(changes: dict[str, Any], field: str) -> None:
    """The error names the invalid field, for the author of the worker."""
    with pytest.raises(DescriptorError) as caught:
        decode_descriptor(encoded(**changes), "cleanrl_worker")
    assert [problem.field for problem in caught.value.problems] == [field]
    assert "cleanrl_worker" in str(caught.value)


@pytest.mark.parametrize(
    ("parameter", "field"),
    [
        ({"type": "integer"}, "type"),
        ({"type": "int", "default": 1.5}, "default"),
        ({"type": "int", "default": 0, "min": 1}, "default"),
        ({"type": "float", "default": 2, "max": 1.5}, "default"),
        ({"type": "int", "min": 2, "max": 1}, "min"),
        ({"type": "choice", "default": "x"}, "choices"),
        ({"type": "choice", "default": "x", "choices": ["y"]}, "default"),
        ({"type": "choice", "default": True, "choices": [1]}, "default"),
        ({"type": "bool", "default": 1}, "default"),
        ({"type": "float", "search": [2, 1]}, "search"),
        ({"type": "float", "search": [1]}, "search"),
        ({"type": "float", "min": 0, "search": [-1, 1]}, "search[0]"),
        ({"type": "float", "max": 1, "search": [0, 2]}, "search[1]"),
        ({"type": "int", "search": [1, 2.5]}, "search[1]"),
        ({"type": "float", "search": [0, 1], "log": True}, "search[0]"),
        ({"type": "str", "search": [0, 1]}, "search"),
        ({"type": "bool", "log": True}, "log"),
    ],
)
def test_parameter_that_contradicts_itself_is_named(parameter: dict[str, Any], field: str) -> None:
    """A default that the parameter itself would reject is an error."""
    algorithms = [{"id": "a", "parameters": [{"name": "p", **parameter}]}]
    with pytest.raises(DescriptorError) as caught:
        decode_descriptor(encoded(algorithms=algorithms))
    assert [p.field for p in caught.value.problems] == [f"algorithms[0].parameters[0].{field}"]


def test_invalid_descriptor_is_rejected() -> None:
    """Other output of a worker is a readable error."""
    for data in (b"", b"Traceback (most recent call last):", b"[]", b"\xff"):
        with pytest.raises(DescriptorError):
            decode_descriptor(data)


def test_defaults_are_filled_in() -> None:
    """Missing parameters get the values of the descriptor."""
    resolved = validate_params(decode_descriptor(encoded()), "ppo", {"num_envs": 2})
    assert resolved.problems == []
    assert resolved.values == {
        "learning_rate": 2.5e-4,
        "num_envs": 2,
        "anneal_lr": True,
        "device": "cpu",
        "target_kl": None,
        "tag": "",
        "frame_skip": 4,
    }


@pytest.mark.parametrize(
    "params",
    [
        {"learning_rate": 1},
        {"learning_rate": 0.0},
        {"num_envs": 2**62},
        {"target_kl": None},
        {"target_kl": 0.01},
        {"device": "cuda"},
        {"frame_skip": 0.5},
    ],
)
def test_good_values_are_accepted(params: dict[str, Any]) -> None:
    """Bounds of a range, null where null is the default, and every choice."""
    assert validate_params(decode_descriptor(encoded()), "ppo", params).problems == []


@pytest.mark.parametrize(
    ("params", "remedy"),
    [
        ({"learning_rate": "fast"}, "a number from 0 to 1"),
        ({"learning_rate": 1.5}, "a number from 0 to 1"),
        ({"learning_rate": float("nan")}, "a finite number"),
        ({"num_envs": 0}, "an integer of at least 1"),
        ({"num_envs": 2.0}, "an integer of at least 1"),
        ({"num_envs": None}, "an integer of at least 1"),
        ({"anneal_lr": 1}, "true or false"),
        ({"device": "cud"}, 'Did you mean "cuda"?'),
        ({"device": 1}, '"cpu", "cuda"'),
        ({"frame_skip": "4"}, "1, 4, 0.5"),
        ({"num_env": 1}, "Did you mean `num_envs`?"),
        ({"wandb_api_key": "x"}, "environment variable"),
    ],
)
def test_wrong_values_are_named(params: dict[str, Any], remedy: str) -> None:
    """A wrong type, an out-of-range value and an unknown name, each with what is expected."""
    (problem,) = validate_params(decode_descriptor(encoded()), "ppo", params).problems
    assert problem.field == f"params.{next(iter(params))}"
    assert remedy in problem.remedy


def test_unknown_algorithm_is_named() -> None:
    """The error lists the algorithms of the worker."""
    (problem,) = validate_params(decode_descriptor(encoded()), "pppo", {}).problems
    assert problem.field == "algo"
    assert "Did you mean `ppo`?" in problem.remedy
    assert "`dqn`" in problem.remedy


def test_no_algorithm_has_no_parameters() -> None:
    """A run without an algorithm (play) has no parameters."""
    descriptor = decode_descriptor(encoded())
    assert validate_params(descriptor, None, {}).problems == []
    assert [p.field for p in validate_params(descriptor, None, {"x": 1}).problems] == ["params.x"]

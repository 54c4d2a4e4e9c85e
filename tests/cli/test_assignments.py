"""NAME=VALUE options are converted to the types of the descriptor."""

from typing import Any

import click
import pytest

from mosaic.cli.assignments import parse_assignments, parse_json_or_text, parse_value
from mosaic.cli.train_config import TrainOptions, build_config
from mosaic.contract.descriptor import Algorithm, Environments, Needs, WorkerDescriptor
from mosaic.contract.parameters import Parameter

_PARAMETERS = (
    Parameter(name="steps", type="int", default=1, min=1),
    Parameter(name="rate", type="float", default=0.5),
    Parameter(name="anneal", type="bool", default=True),
    Parameter(name="device", type="choice", default="cpu", choices=("cpu", "cuda", 1)),
    Parameter(name="label", type="str", default=""),
    Parameter(name="target_kl", type="float", default=None),
)
_DESCRIPTOR = WorkerDescriptor(
    worker="w",
    algorithms=(Algorithm(id="ppo", parameters=_PARAMETERS),),
    environments=Environments(ids=("CartPole-v1",)),
    needs=Needs(bundle="w_bundle"),
)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("steps", "12", 12),
        ("steps", "1e6", 1_000_000),
        ("steps", "1_000", 1000),
        ("rate", "3", 3.0),
        ("rate", "2.5e-4", 2.5e-4),
        ("anneal", "no", False),
        ("anneal", "True", True),
        ("device", "cuda", "cuda"),
        ("device", "1", 1),
        ("label", "12", "12"),
        ("label", "", ""),
        ("target_kl", "none", None),
        ("steps", "many", "many"),
        ("steps", "1.5", 1.5),
    ],
)
def test_values_are_converted_to_the_parameter_type(name: str, text: str, value: Any) -> None:
    """An invalid value stays text, which validation rejects."""
    parameter = next(each for each in _PARAMETERS if each.name == name)
    typed = parse_value(text, parameter)
    assert typed == value
    assert type(typed) is type(value)


def test_a_setting_without_equals_is_rejected() -> None:
    """The error names the option."""
    with pytest.raises(click.UsageError, match="--set"):
        parse_assignments(["steps"], "--set")
    assert parse_assignments(["a=b=c"], "--set") == {"a": "b=c"}


def test_untyped_values_are_read_as_json() -> None:
    """Anything else stays text."""
    values = [parse_json_or_text(text) for text in ("1", "true", "[1]", "word", "4x4")]
    assert values == [1, True, [1], "word", "4x4"]


def test_the_only_algorithm_and_environment_are_defaults() -> None:
    """Algorithm and environment come from the descriptor."""
    config = build_config(TrainOptions(settings=("steps=5",)), _DESCRIPTOR)
    assert (config.algo, config.env_id, config.params) == ("ppo", "CartPole-v1", {"steps": 5})


def test_options_map_to_configuration_fields() -> None:
    """Options override the file."""
    config = build_config(
        TrainOptions(
            name="mine",
            extras=("atari",),
            wandb="offline",
            wandb_project="p",
            video_every=5,
            gpus=1,
            env_args=("render=true",),
            worker_args=("x=1",),
            time_limit_s=9.0,
        ),
        _DESCRIPTOR,
    )
    assert config.run_name == "mine"
    assert config.bundle is not None
    assert (config.bundle.name, config.bundle.extras) == (None, ("atari",))
    wandb = config.artifacts.wandb
    assert (wandb.enabled, wandb.mode, wandb.project) == (True, "offline", "p")
    assert (config.artifacts.video.enabled, config.artifacts.video.every_episodes) == (True, 5)
    assert config.resources.gpus == 1
    assert config.env_kwargs == {"render": True}
    assert config.extra_args == {"x": 1}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (TrainOptions(settings=("stesp=1",)), "Did you mean `steps`"),
        (TrainOptions(settings=("steps=many",)), "Expected an integer of at least 1"),
        (TrainOptions(settings=("steps=0",)), "at least 1"),
        (TrainOptions(settings=("device=gpu",)), "choices"),
        (TrainOptions(algo="pop"), "Did you mean `ppo`"),
    ],
)
def test_usage_errors_have_a_hint(options: TrainOptions, expected: str) -> None:
    """The errors are raised before anything is sent."""
    with pytest.raises(click.UsageError) as raised:
        build_config(options, _DESCRIPTOR)
    assert expected in raised.value.message


def test_an_invalid_configuration_file_is_reported(tmp_path: Any) -> None:
    """For any content that is not a configuration."""
    file = tmp_path / "config.json"
    for content in ("[1]", "{"):
        file.write_text(content)
        with pytest.raises(click.UsageError, match=r"config\.json"):
            build_config(TrainOptions(config_file=str(file)), _DESCRIPTOR)

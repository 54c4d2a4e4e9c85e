"""Search options become distributions; invalid ones are rejected with the reason."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mosaic.client.sweeps.search_space import (
    CategoricalChoices,
    NumericRange,
    SearchDistribution,
    SearchSpaceError,
    default_search_space,
)
from mosaic.client.sweeps.space_input import parse_search_options, read_search_space_file
from mosaic.contract.descriptor import Algorithm
from mosaic.contract.parameters import Parameter

PARAMETERS = (
    Parameter(
        name="learning_rate", type="float", default=1e-3, min=0, search=(1e-5, 1e-2), log=True
    ),
    Parameter(name="num_envs", type="int", default=4, min=1, max=64, search=(1, 16)),
    Parameter(name="gamma", type="float", default=0.99, min=0.0, max=1.0),
    Parameter(name="anneal", type="bool", default=True),
    Parameter(name="layer", type="choice", default="tanh", choices=("tanh", "relu")),
    Parameter(name="note", type="str", default=""),
)


def parse(*texts: str) -> dict[str, SearchDistribution]:
    return parse_search_options(texts, PARAMETERS)


def test_options_become_distributions() -> None:
    """Integers stay integers, and a name alone means the range that the worker suggests."""
    assert parse("learning_rate=1e-4..1e-2:log", "num_envs=2..8", "gamma = 0.9..1") == {
        "learning_rate": NumericRange(low=1e-4, high=1e-2, log=True),
        "num_envs": NumericRange(low=2, high=8, integer=True),
        "gamma": NumericRange(low=0.9, high=1),
    }
    assert parse("num_envs=1,1e1", "gamma=0.9, 0.99", "layer=relu", "anneal=true,False") == {
        "num_envs": CategoricalChoices(choices=(1, 10)),
        "gamma": CategoricalChoices(choices=(0.9, 0.99)),
        "layer": CategoricalChoices(choices=("relu",)),
        "anneal": CategoricalChoices(choices=(True, False)),
    }
    assert parse("num_envs", "layer", "anneal") == {
        "num_envs": NumericRange(low=1, high=16, integer=True),
        "layer": CategoricalChoices(choices=("tanh", "relu")),
        "anneal": CategoricalChoices(choices=(False, True)),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learning=1..2", "learning_rate"),
        ("gamma", "suggests no search range"),
        ("gamma=", "no values"),
        ("gamma=0.9..2", "gamma"),
        ("gamma=0.9..0.1", "is empty"),
        ("gamma=0..1:log", "logarithmic range"),
        ("gamma=low..1", "is not a number"),
        ("gamma=high", "is not allowed"),
        ("num_envs=1..2.5", "must be an integer"),
        ("num_envs=1.5,2", "is not allowed"),
        ("layer=relu..tanh", "is not a number"),
        ("layer=1..2", "List the values"),
        ("layer=relu,gelu", "is not allowed"),
        ("anneal=maybe", "is not allowed"),
    ],
)
def test_invalid_search_is_rejected(text: str, message: str) -> None:
    """With the reason and a remedy."""
    with pytest.raises(SearchSpaceError) as raised:
        parse(text)
    assert message in str(raised.value)
    assert raised.value.remedy


@pytest.mark.parametrize("form", ["toml", "json"])
def test_file_is_equivalent_to_options(tmp_path: Path, form: str) -> None:
    """Texts, lists and tables, in TOML and in JSON."""
    path = tmp_path / f"space.{form}"
    document: dict[str, Any] = {
        "learning_rate": "1e-4..1e-2:log",
        "num_envs": {"low": 2, "high": 8, "step": 2},
        "gamma": [0.9, 0.99],
        "layer": {"choices": ["relu"]},
    }
    path.write_text(
        json.dumps(document)
        if form == "json"
        else """
learning_rate = "1e-4..1e-2:log"
num_envs = {low = 2, high = 8, step = 2}
gamma = [0.9, 0.99]
layer = {choices = ["relu"]}
"""
    )
    assert read_search_space_file(path, PARAMETERS) == {
        "learning_rate": NumericRange(low=1e-4, high=1e-2, log=True),
        "num_envs": NumericRange(low=2, high=8, step=2, integer=True),
        "gamma": CategoricalChoices(choices=(0.9, 0.99)),
        "layer": CategoricalChoices(choices=("relu",)),
    }


@pytest.mark.parametrize(
    "text",
    [
        "gamma = 3",
        "gamma = {low = 0.5}",
        "gamma = {low = 0.5, high = 0.9, lag = true}",
        'gamma = {low = "a", high = 0.9}',
        "gamma = []",
        "gamma = [[1]]",
        "num_envs = {low = 1, high = 9, step = 0}",
        "num_envs = {low = 1, high = 9, step = 2, log = true}",
        "nonsense",
        "",
    ],
)
def test_invalid_space_file_is_rejected(tmp_path: Path, text: str) -> None:
    """With a SearchSpaceError."""
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(SearchSpaceError):
        read_search_space_file(path, PARAMETERS)


def test_default_space_contains_all_suggested_ranges() -> None:
    """And no others; it round-trips through a configuration."""
    space = default_search_space(Algorithm(id="ppo", label="PPO", parameters=PARAMETERS))
    assert space == {
        "learning_rate": NumericRange(low=1e-5, high=1e-2, log=True),
        "num_envs": NumericRange(low=1, high=16, integer=True),
    }
    assert msgspec.convert(msgspec.to_builtins(space), dict[str, SearchDistribution]) == space

"""Reproducing a run: the command has the same configuration, packages are compared."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from gym_gui.run_page.model.run_reproduction import (
    git_text,
    in_lines,
    package_rows,
    requirements_text,
    train_command,
)
from mosaic.cli import train as train_cli
from mosaic.cli.train_config import TrainOptions, build_config
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor
from mosaic.contract.parameters import Parameter
from mosaic.contract.run_config import TrainRunConfig, load_run_config, to_json
from mosaic.contract.runs import BundleUse

_WORKER = WorkerDescriptor(
    worker="learner",
    algorithms=(
        Algorithm(
            id="ppo",
            parameters=(
                Parameter(name="num_envs", type="int", default=4),
                Parameter(name="gamma", type="float", default=0.99),
                Parameter(name="anneal", type="bool", default=True),
                Parameter(name="device", type="str", default=None),
            ),
        ),
    ),
)
_PLAIN: dict[str, Any] = {"worker": "learner", "algo": "ppo", "env_id": "CartPole-v1"}


def _parsed(command: list[str]) -> TrainRunConfig:
    """The configuration that `mosaic train` builds from the command."""
    assert command[:3] == ["mosaic", "train", "learner"]
    context = train_cli.train.make_context("train", command[2:])
    known = TrainOptions.__struct_fields__
    given = {name: value for name, value in context.params.items() if name in known}
    return build_config(TrainOptions(**given), _WORKER)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"seed": 7, "total_timesteps": 50_000, "run_name": "a name"},
        {"params": {"num_envs": 8, "gamma": 0.95, "anneal": False, "device": "5"}},
        {"env_kwargs": {"gravity": 1.5, "map": ["SF", "HG"]}, "extra_args": {"x": "y z"}},
        {"resources": {"cpus": 2, "memory_mb": 512}, "telemetry": {"steps": "all", "frames": True}},
        {"artifacts": {"wandb": {"enabled": True, "mode": "offline", "project": "p"}}},
        {"artifacts": {"video": {"enabled": True, "every_episodes": 5}}},
        {"artifacts": {"checkpoints": {"every_steps": 1000, "keep": 9}}},
        {"artifacts": {"tensorboard": {"enabled": False}}, "metadata": {"why": "not"}},
        {"env_kwargs": {"level": "5"}},
        {"bundle": {"extras": ["atari"]}, "priority": 3, "time_limit_s": 60.0},
        {"agent_id": "me", "warm_start": "abc"},
    ],
)
def test_the_command_reproduces_the_configuration(settings: dict[str, Any], tmp_path: Path) -> None:
    """`mosaic train` parses the command to the configuration of the run."""
    config = load_run_config({**_PLAIN, **settings})
    file = tmp_path / "config.json"
    file.write_bytes(to_json(config))
    command = train_command(config, str(file))
    assert _parsed(command) == config
    assert shlex.split(in_lines(command).replace("\\\n", "")) == command


def test_options_if_they_cover_every_value(tmp_path: Path) -> None:
    """A file is named only for values that no option covers."""
    by_options = load_run_config({**_PLAIN, "params": {"num_envs": 8}})
    command = train_command(by_options, "config.json")
    assert shlex.join(command) == (
        "mosaic train learner --algo ppo --env CartPole-v1 --seed 1 --set num_envs=8"
    )
    by_file = load_run_config({**_PLAIN, "agent_id": "me"})
    file = str(tmp_path / "config.json")
    assert train_command(by_file, file) == ["mosaic", "train", "learner", "--config", file]


def test_packages_of_two_runs() -> None:
    """Another version, only in this run, only in the other; without another run none differs."""
    here, there = (
        {"torch": "2.4", "numpy": "2.0", "av": "1"},
        {"torch": "2.5", "numpy": "2.0", "x": "3"},
    )
    differing = [row for row in package_rows(here, there) if row.differs]
    assert [(row.name, row.here, row.there) for row in differing] == [
        ("av", "1", ""),
        ("torch", "2.4", "2.5"),
        ("x", "", "3"),
    ]
    assert not any(row.differs for row in package_rows(here))
    bundle = BundleUse(name="b", hash="h", path="p", python="3.11", packages=here)
    assert requirements_text(bundle).splitlines()[1:] == ["av==1", "numpy==2.0", "torch==2.4"]


def test_git_commit() -> None:
    """As a string or with its branch; empty if unknown."""
    assert git_text({"git": "abc"}) == "abc"
    reported = json.loads('{"git": {"commit": "abc", "branch": "main", "dirty": true}}')
    assert git_text(reported) == "abc (main), with local changes"
    assert git_text(None) == git_text({"git": None}) == ""

"""A script's flags are read from its source, and passed in its parser's syntax."""

import os
from pathlib import Path
from typing import Any

import pytest

from cleanrl_worker.upstream.command_line import build_command_line
from cleanrl_worker.upstream.flag_reading import read_flags
from cleanrl_worker.upstream.flags import ScriptFlags
from cleanrl_worker.upstream.script import describe_script
from cleanrl_worker.upstream.script_location import locate_script
from mosaic_worker import RunConfig, WorkerError

TYRO = '''
import os
import tyro
from dataclasses import dataclass, field
from typing import Literal, Optional
from shared_flags import Shared

@dataclass
class Args(Shared):
    exp_name: str = os.path.basename(__file__)
    """the name of
    this experiment"""
    env_id: str = "CartPole-v1"
    total_timesteps: int = int(1e6)
    """how long"""
    learning_rate: float = 2.5e-4
    anneal_lr: bool = True
    """whether the rate falls"""
    target_kl: Optional[float] = None
    clip: "float | None" = 1 / 4
    pace: Literal["fast", "slow"] = "slow"
    hidden: list[int] = field(default_factory=lambda: [64, 64])

args = tyro.cli(Args)
'''
SHARED = """
from dataclasses import dataclass

@dataclass
class Shared:
    seed: int = 1
    track: bool = False
    save_model: bool = False
    capture_video: bool = False
    wandb_project_name: str = "cleanRL"
    wandb_entity: str = None
"""
ARGPARSE = """
import argparse
from distutils.util import strtobool

def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--env-id", type=str, default="CartPole-v1", help="which one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-timesteps", type=int, default=500000)
    parser.add_argument("--cuda", type=lambda x: bool(strtobool(x)), default=True, nargs="?")
    parser.add_argument("--quick", action="store_true", help="less work")
    parser.add_argument("--size", choices=["small", "large"], default="small")
    parser.add_argument("--layers", type=int, nargs="+", default=[64, 64])
    return parser.parse_args()
"""
ELSEWHERE = """
import sys
from its_parser import parse
args = parse(sys.argv[1:])
"""
ITS_PARSER = """
import argparse

def parse(argv):
    parser = argparse.ArgumentParser()
    for name in ("env_id", "seed", "gamma"):
        parser.add_argument("--" + name.replace("_", "-"), help="a flag")
    parser.add_argument(*["--quick"], action="store_true")
    return parser.parse_args(argv)
"""


@pytest.fixture
def tyro_script(tmp_path: Path) -> Path:
    (tmp_path / "shared_flags.py").write_text(SHARED)
    (tmp_path / "mine.py").write_text(TYRO)
    return tmp_path / "mine.py"


@pytest.fixture
def argparse_script(tmp_path: Path) -> Path:
    (tmp_path / "older.py").write_text(ARGPARSE)
    return tmp_path / "older.py"


def flags_of(script: Path) -> ScriptFlags:
    return read_flags(locate_script(str(script)), os.environ)


def get_arguments(script: Path, params: dict[str, Any] | None = None, **raw: Any) -> list[str]:
    config = RunConfig("train", "x", "Acrobot-v1", {}, 7, 900, None, params or {}, raw)
    return list(build_command_line(config, flags_of(script)).arguments)


def test_an_args_class_becomes_a_form(tyro_script: Path) -> None:
    """Types, defaults, choices and help, also of base classes, without run fields."""
    algorithm = describe_script(str(tyro_script))
    algorithm.check()
    parameters = {parameter.name: parameter for parameter in algorithm.parameters}
    assert algorithm.id == "mine"
    assert parameters["exp_name"].default is None
    assert parameters["exp_name"].help == "the name of this experiment"
    assert (parameters["learning_rate"].type, parameters["learning_rate"].default) == (
        "float",
        2.5e-4,
    )
    assert (parameters["anneal_lr"].type, parameters["anneal_lr"].help) == (
        "bool",
        "whether the rate falls",
    )
    assert (parameters["target_kl"].type, parameters["target_kl"].default) == ("float", None)
    assert (parameters["clip"].type, parameters["clip"].default) == ("float", 0.25)
    assert (parameters["pace"].type, parameters["pace"].choices) == ("choice", ("fast", "slow"))
    assert (parameters["hidden"].type, parameters["hidden"].default) == ("str", "64 64")
    assert parameters["track"].default is False
    assert not {"env_id", "seed", "total_timesteps"} & set(parameters)


def test_add_argument_calls_become_a_form(argparse_script: Path) -> None:
    """CleanRL's releases have no class."""
    algorithm = describe_script(str(argparse_script))
    parameters = {parameter.name: parameter for parameter in algorithm.parameters}
    assert (parameters["cuda"].type, parameters["cuda"].default) == ("bool", True)
    assert (parameters["quick"].type, parameters["quick"].default) == ("bool", False)
    assert parameters["size"].choices == ("small", "large")
    assert parameters["layers"].default == "64 64"


def test_arguments_use_tyro_syntax(tyro_script: Path) -> None:
    """Flags in pairs, lists separated by spaces; also for extra arguments."""
    arguments = get_arguments(
        tyro_script,
        {"anneal_lr": False, "hidden": "8 9", "target_kl": 0.1},
        extra_args={"new_switch": True, "old_switch": False, "sizes": [1, 2], "opt": {"lr": 0.5}},
    )
    assert arguments == [
        *("--env-id", "Acrobot-v1", "--seed", "7", "--total-timesteps", "900", "--no-anneal-lr"),
        *("--hidden", "8", "9", "--target-kl", "0.1", "--new-switch", "--no-old-switch"),
        *("--sizes", "1", "2", "--opt.lr", "0.5"),
    ]


def test_arguments_use_argparse_syntax(argparse_script: Path) -> None:
    """CleanRL's releases use `--cuda False`; a store_true flag has no value."""
    arguments = get_arguments(
        argparse_script, {"cuda": False, "quick": True}, extra_args={"unknown": True}
    )
    assert arguments[-5:] == ["--cuda", "False", "--quick", "--unknown", "True"]


def test_artifact_settings_become_flags(tyro_script: Path) -> None:
    """Tracking, videos and models; values set by the user take precedence."""
    artifacts = {
        "wandb": {"enabled": True, "project": "mosaic", "entity": "ada"},
        "video": {"enabled": True},
        "checkpoints": {"every_steps": 0},
    }
    arguments = get_arguments(tyro_script, {"save_model": False}, artifacts=artifacts)
    assert {"--track", "--capture-video", "--no-save-model"} <= set(arguments)
    assert arguments[arguments.index("--wandb-entity") + 1] == "ada"
    assert arguments[arguments.index("--wandb-project-name") + 1] == "mosaic"


@pytest.mark.parametrize(("every_steps", "is_saved"), [(0, False), (500, True)])
def test_a_model_is_saved_only_on_request(
    tyro_script: Path, every_steps: int, is_saved: bool
) -> None:
    """Saving also starts an evaluation, so the default checkpoint settings do not enable it."""
    arguments = get_arguments(
        tyro_script, artifacts={"checkpoints": {"every_steps": every_steps, "keep": 3}}
    )
    assert ("--save-model" in arguments) is is_saved
    assert "--save-model" in get_arguments(tyro_script, {"save_model": True})


def test_an_unknown_parameter_is_rejected(tyro_script: Path) -> None:
    """Before anything is started, with a suggestion."""
    with pytest.raises(WorkerError, match="learning_rat") as raised:
        get_arguments(tyro_script, {"learning_rat": 1})
    assert "learning_rate" in raised.value.remedy


def test_unsupported_settings_are_listed(tmp_path: Path) -> None:
    """A script without these flags still runs, and unused settings are logged."""
    script = tmp_path / "bare.py"
    script.write_text("print('hello')\n")
    config = RunConfig("train", "x", "Acrobot-v1", {}, 7, 900, None, {}, {"env_id": "Acrobot-v1"})
    line = build_command_line(config, flags_of(script))
    assert line.arguments == ()
    assert any("--env-id" in sentence for sentence in line.unused)


@pytest.mark.process
def test_flags_of_a_hidden_parser_are_read_from_help(tmp_path: Path) -> None:
    """From the script's `--help` if its source defines no flags."""
    (tmp_path / "its_parser.py").write_text(ITS_PARSER)
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE)
    flags = flags_of(script)
    assert flags.source == "its --help"
    assert [flag.parameter.name for flag in flags.flags] == ["env_id", "seed", "gamma", "quick"]
    assert get_arguments(script, {"gamma": "0.9", "quick": True}) == [
        *("--env-id", "Acrobot-v1", "--seed", "7", "--gamma", "0.9", "--quick"),
    ]

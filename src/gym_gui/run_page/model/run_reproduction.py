"""How to reproduce a run: the `mosaic` command, the worker command, packages and sources.

Plain functions; the *Reproduce* tab shows the results.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.runs import BundleUse, RunDetails

_FLAGS = {
    ("algo",): "--algo",
    ("script",): "--script",
    ("env_id",): "--env",
    ("seed",): "--seed",
    ("total_timesteps",): "--total-timesteps",
    ("max_episodes",): "--max-episodes",
    ("run_name",): "--name",
    ("priority",): "--priority",
    ("time_limit_s",): "--time-limit",
    ("launcher",): "--launcher",
    ("warm_start",): "--warm-start",
    ("resources", "cpus"): "--cpus",
    ("resources", "gpus"): "--gpus",
    ("resources", "memory_mb"): "--memory-mb",
    ("telemetry", "steps"): "--telemetry",
    ("artifacts", "wandb", "project"): "--wandb-project",
    ("artifacts", "wandb", "entity"): "--wandb-entity",
    ("artifacts", "video", "every_episodes"): "--video-every",
    ("artifacts", "checkpoints", "every_steps"): "--checkpoint-every",
}
_SWITCHES = {("telemetry", "frames"): "--frames", ("artifacts", "video", "enabled"): "--video"}
_ALWAYS = (("algo",), ("env_id",), ("seed",))
_DEFAULTS: dict[str, Any] = msgspec.to_builtins(TrainRunConfig(worker="none", env_id="none"))
_SETTINGS = {"env_kwargs": "--env-arg", "params": "--set", "extra_args": "--arg"}
_FIRST = ("algo", "script", "env_id", "seed")
_MAX_COMMAND_LINE = 72

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackageRow:
    """One package in both runs; the version is empty if it is not installed."""

    name: str
    here: str
    there: str = ""
    differs: bool = False


def train_command(config: TrainRunConfig, config_file: str) -> list[str]:
    """A command that starts the same run, with options only if they cover every value.

    Otherwise it names `config_file`, the configuration of the run.
    """
    options = list(_options(config))
    by_file = ["mosaic", "train", config.worker, "--config", config_file]
    if config.mode != "train" or any(option is None for option in options):
        return by_file
    return [
        "mosaic",
        "train",
        config.worker,
        *(word for option in options if option for word in option),
    ]


def in_lines(command: list[str]) -> str:
    """A shell command; long ones are wrapped before options."""
    lines: list[str] = []
    line: list[str] = []
    for word in command:
        if word.startswith("--") and len(shlex.join([*line, word])) > _MAX_COMMAND_LINE // 2:
            lines.append(shlex.join(line))
            line = []
        line.append(word)
    lines.append(shlex.join(line))
    return " \\\n  ".join(lines)


def requirements_text(bundle: BundleUse) -> str:
    """The packages of the run as a requirements file for pip."""
    header = f"# Packages of the bundle {bundle.name}, {bundle.hash}, Python {bundle.python}\n"
    pins = (f"{name}=={version}" for name, version in sorted(bundle.packages.items()))
    return header + "\n".join(pins) + "\n"


def as_json(details: RunDetails, config: TrainRunConfig, resolved: Mapping[str, Any] | None) -> str:
    """Everything needed to reproduce the run, in one document."""
    document = {
        "run_id": details.run.run_id,
        "worker_command": list(details.command),
        "config": msgspec.to_builtins(config),
        "resolved": resolved,
        "bundle": msgspec.to_builtins(details.bundle),
        "git": (resolved or {}).get("git"),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def package_rows(
    here: Mapping[str, str], there: Mapping[str, str] | None = None
) -> list[PackageRow]:
    """Sorted by name. Without another run nothing differs."""
    names = sorted({*here, *(there or {})}, key=str.casefold)
    return [
        PackageRow(
            name,
            here.get(name, ""),
            (there or {}).get(name, ""),
            there is not None and here.get(name) != there.get(name),
        )
        for name in names
    ]


def git_text(resolved: Mapping[str, Any] | None) -> str:
    """The commit that the worker reported, and whether its files had changed."""
    git = (resolved or {}).get("git")
    if isinstance(git, str):
        return git
    if not isinstance(git, Mapping):
        return ""
    commit = str(git.get("commit") or git.get("sha") or git.get("hash") or "")
    branch = str(git.get("branch") or "")
    changed = ", with local changes" if git.get("dirty") else ""
    return f"{commit}{f' ({branch})' if branch else ''}{changed}" if commit else ""


def _options(config: TrainRunConfig) -> Iterator[list[str] | None]:
    """The arguments of each option; None for a value that no option covers."""
    document: dict[str, Any] = msgspec.to_builtins(config)
    for name in _FIRST:
        yield from _option((name,), document.pop(name))
    for name, flag in _SETTINGS.items():
        yield from _settings(flag, document.pop(name))
    bundle = document.pop("bundle") or {}
    for extra in bundle.get("extras", ()):
        yield ["--extra", extra]
    if bundle.get("name") is not None:
        yield None
    for folder in document.pop("python_path"):
        yield ["--path", folder]
    wandb = document["artifacts"]["wandb"]
    is_tracked, mode = wandb.pop("enabled"), wandb.pop("mode")
    if is_tracked:
        yield ["--wandb", mode] if mode != "disabled" else None
    elif mode != _DEFAULTS["artifacts"]["wandb"]["mode"]:
        yield None
    for name in ("worker", "mode"):
        document.pop(name)
    for path, value in _leaves(document):
        yield from _option(path, value)


def _option(path: Path, value: Any) -> Iterator[list[str] | None]:
    is_default = value == _at(_DEFAULTS, path)
    if value is None or (is_default and path not in _ALWAYS):
        return
    if path in _SWITCHES and value is True:
        yield [_SWITCHES[path]]
    elif path in _FLAGS:
        yield [_FLAGS[path], str(value)]
    else:
        yield None


def _settings(flag: str, values: Mapping[str, Any]) -> Iterator[list[str] | None]:
    for name, value in values.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        # An option value that parses as JSON would not stay a string.
        is_ambiguous = isinstance(value, str) and flag != "--set" and _is_json(value)
        yield (
            None
            if is_ambiguous or "=" in name or name != name.strip()
            else [flag, f"{name}={text}"]
        )


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def _leaves(document: Mapping[str, Any], prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping) and value and (prefix or name in _DEFAULTS):
            yield from _leaves(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _at(document: Mapping[str, Any], path: Path) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value

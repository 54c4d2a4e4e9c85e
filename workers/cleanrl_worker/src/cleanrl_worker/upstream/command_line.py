"""The words that a script is started with, made from a run's configuration.

What a person set as a parameter wins over what follows from other fields of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.script_flags import ScriptFlags
    from mosaic_worker import RunConfig

_RUN_FIELDS = ("env_id", "seed", "total_timesteps")


class CommandLine(NamedTuple):
    """A script's words, and what of the run it cannot be told."""

    words: tuple[str, ...]
    unused: tuple[str, ...]
    """A sentence for each thing that was asked for and has no flag."""
    is_tracked: bool
    """Whether the script was told to use Weights & Biases."""
    total_timesteps: int | None
    """How long it will train, where that is known."""


def command_line(config: RunConfig, flags: ScriptFlags) -> CommandLine:
    """WorkerError for a parameter that the script does not have."""
    values: dict[str, Any] = {}
    unused: list[str] = []
    for field in _RUN_FIELDS:
        value = getattr(config, field)
        if value in (None, ""):
            continue
        if flags.find(field) is not None:
            values[field] = value
        elif config.raw.get(field) is not None:
            unused.append(f"The script has no flag --{field.replace('_', '-')}; {value} is unused.")
    if config.env_kwargs:
        unused.append("The script makes its environments itself; env_kwargs are unused.")
    values.update(_known_params(config.params, flags))
    _add_artifacts(config.raw, flags, values, unused)
    words: list[str] = []
    for name, value in values.items():
        flag = flags.find(name)
        if flag is not None:
            words += flag.words(value)
    extra = config.raw.get("extra_args") or {}
    for name, value in extra.items():
        if name.lstrip("-").replace("-", "_") not in values and value is not None:
            words += flags.passed_through(name, value)
    is_tracked = bool(values.get("track") or extra.get("track"))
    return CommandLine(tuple(words), tuple(unused), is_tracked, _total(values, extra, flags))


def _known_params(params: Mapping[str, Any], flags: ScriptFlags) -> dict[str, Any]:
    for name in params:
        if flags.find(name) is None:
            raise WorkerError(
                f"The script has no flag for the parameter {name}.", remedy=flags.suggestion(name)
            )
    return {name: value for name, value in params.items() if value is not None}


def _add_artifacts(
    raw: Mapping[str, Any], flags: ScriptFlags, values: dict[str, Any], unused: list[str]
) -> None:
    artifacts = raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    if wandb.get("enabled") and wandb.get("mode") != "disabled":
        if flags.find("track") is None:
            unused.append("The script has no flag --track, so Weights & Biases is not used.")
        else:
            values.setdefault("track", True)
            for name, given in (("wandb_project_name", "project"), ("wandb_entity", "entity")):
                if wandb.get(given) and flags.find(name) is not None:
                    values.setdefault(name, wandb[given])
    if (artifacts.get("video") or {}).get("enabled"):
        if flags.find("capture_video") is None:
            unused.append("The script has no flag --capture-video, so there will be no videos.")
        else:
            values.setdefault("capture_video", True)
    if artifacts.get("checkpoints") is not None and flags.find("save_model") is not None:
        values.setdefault("save_model", True)


def _total(values: Mapping[str, Any], extra: Mapping[str, Any], flags: ScriptFlags) -> int | None:
    given = values.get("total_timesteps", extra.get("total_timesteps"))
    if given is None:
        flag = flags.find("total_timesteps")
        given = flag.parameter.default if flag else None
    is_whole = isinstance(given, (int, float)) and not isinstance(given, bool) and given > 0
    return int(given) if is_whole and given is not None else None

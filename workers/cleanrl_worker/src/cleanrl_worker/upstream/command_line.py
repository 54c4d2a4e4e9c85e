"""Builds a script's command line from a run's configuration.

Parameters that the user set have priority over values of the run's other fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.flags import ScriptFlags
    from mosaic_worker import RunConfig

_RUN_FIELDS = ("env_id", "seed", "total_timesteps")


class CommandLine(NamedTuple):
    """A script's arguments, and the settings of the run that it does not support."""

    arguments: tuple[str, ...]
    unused: tuple[str, ...]
    """A sentence for each setting of the run without a flag."""
    is_tracked: bool
    """Whether the script may use Weights & Biases, by its flag or by the run's settings."""
    is_uploaded: bool
    """Whether the script uploads its model to the Hugging Face hub."""
    total_timesteps: int | None
    """The length of its training, if known."""


def build_command_line(config: RunConfig, flags: ScriptFlags) -> CommandLine:
    """Raises `WorkerError` for a parameter that the script does not have."""
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
        unused.append("The script makes its own environments; env_kwargs are unused.")
    values.update(_known_params(config.params, flags))
    _add_artifacts(config.raw, flags, values, unused)
    arguments: list[str] = []
    for name, value in values.items():
        flag = flags.find(name)
        if flag is not None:
            arguments += flag.to_argv(value)
    extra = config.raw.get("extra_args") or {}
    for name, value in extra.items():
        if name.lstrip("-").replace("-", "_") not in values and value is not None:
            arguments += flags.pass_through(name, value)
    passed = {name.lstrip("-").replace("-", "_"): value for name, value in extra.items()}
    flag_values = {**passed, **values}
    return CommandLine(
        tuple(arguments),
        tuple(unused),
        is_tracked=_is_on("track", flag_values, flags) or _is_wandb_enabled(config.raw),
        is_uploaded=_is_on("upload_model", flag_values, flags),
        total_timesteps=_total(flag_values, flags),
    )


def _known_params(params: Mapping[str, Any], flags: ScriptFlags) -> dict[str, Any]:
    for name in params:
        if flags.find(name) is None:
            raise WorkerError(
                f"The script has no flag for the parameter {name}.", remedy=flags.suggest(name)
            )
    return {name: value for name, value in params.items() if value is not None}


def _add_artifacts(
    raw: Mapping[str, Any], flags: ScriptFlags, values: dict[str, Any], unused: list[str]
) -> None:
    artifacts = raw.get("artifacts") or {}
    wandb = artifacts.get("wandb") or {}
    if _is_wandb_enabled(raw):
        if flags.find("track") is None:
            unused.append(
                "The script has no flag --track, so Weights & Biases is used only if the script "
                "enables it."
            )
        else:
            values.setdefault("track", True)
            for flag, key in (("wandb_project_name", "project"), ("wandb_entity", "entity")):
                if wandb.get(key) and flags.find(flag) is not None:
                    values.setdefault(flag, wandb[key])
    if (artifacts.get("video") or {}).get("enabled"):
        if flags.find("capture_video") is None:
            unused.append("The script has no flag --capture-video, so no videos are recorded.")
        else:
            values.setdefault("capture_video", True)
    # Only if checkpoints are scheduled: a script that saves its model also evaluates it.
    every_steps = (artifacts.get("checkpoints") or {}).get("every_steps") or 0
    if every_steps > 0 and flags.find("save_model") is not None:
        values.setdefault("save_model", True)


def _is_wandb_enabled(raw: Mapping[str, Any]) -> bool:
    wandb = (raw.get("artifacts") or {}).get("wandb") or {}
    return bool(wandb.get("enabled")) and wandb.get("mode") != "disabled"


def _is_on(name: str, flag_values: Mapping[str, Any], flags: ScriptFlags) -> bool:
    return bool(_value(name, flag_values, flags))


def _total(flag_values: Mapping[str, Any], flags: ScriptFlags) -> int | None:
    total = _value("total_timesteps", flag_values, flags)
    is_number = isinstance(total, (int, float)) and not isinstance(total, bool) and total > 0
    return int(total) if is_number and total is not None else None


def _value(name: str, flag_values: Mapping[str, Any], flags: ScriptFlags) -> Any:
    """Return the given value, or else the script's default."""
    if flag_values.get(name) is not None:
        return flag_values[name]
    flag = flags.find(name)
    return flag.parameter.default if flag else None

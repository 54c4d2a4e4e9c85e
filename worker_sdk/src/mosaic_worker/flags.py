"""The command-line flags of a worker: common ones, and one per parameter of its descriptor."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from mosaic_worker.heartbeat import PERIOD_SECONDS
from mosaic_worker.run_config import Assignment, Overrides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mosaic_worker.descriptor import Descriptor
    from mosaic_worker.parameter import Parameter

_RUN_FIELDS = ("algo", "env_id", "seed", "total_timesteps", "max_episodes", "script")


class Flags(NamedTuple):
    """The parsed command line."""

    config: str
    describe: bool
    dry_run: bool
    emit_summary: bool
    grpc: bool
    heartbeat_s: float
    overrides: Overrides

    @property
    def script(self) -> str | None:
        """The script named on the command line."""
        return self.overrides.fields.get("script") or None


def parse_flags(descriptor: Descriptor, arguments: Sequence[str]) -> Flags:
    """Parse the command line; exits with code 2 for invalid usage, like argparse."""
    parser = _make_parser(descriptor)
    parameters = {p.name: p for algorithm in descriptor.algorithms for p in algorithm.parameters}
    if "script" not in parameters:
        text = "describe or run this script, if the worker supports scripts"
        parser.add_argument("--script", metavar="PATH", help=text)
    group = parser.add_argument_group("parameters (override --config)")
    for parameter in parameters.values():
        _add_parameter(group, parameter)
    given = parser.parse_args(arguments)
    if not given.describe and not given.config:
        parser.error("--config FILE is required; use --describe to print what this worker offers")
    assignments = []
    for assignment in given.set:
        name, equals, text = assignment.partition("=")
        if not equals:
            parser.error(f"--set {assignment}: must have the form name=value")
        assignments.append(Assignment(name, text, f"--set {name}"))
    for name in parameters:
        text = getattr(given, f"param_{name}")
        if text is not None:
            assignments.append(Assignment(name, text, f"--{name.replace('_', '-')}"))
    return Flags(
        config=given.config or "",
        describe=given.describe,
        dry_run=given.dry_run,
        emit_summary=given.emit_summary,
        grpc=given.grpc or given.grpc_target is not None,
        heartbeat_s=given.heartbeat_seconds,
        overrides=Overrides(
            {name: getattr(given, name, None) for name in _RUN_FIELDS}, assignments
        ),
    )


def _make_parser(descriptor: Descriptor) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {descriptor.worker}",
        description=descriptor.summary,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--config", metavar="FILE", help="configuration of the run: a TrainRunConfig as JSON")
    add("--describe", action="store_true", help="print the worker's descriptor as JSON")
    add(
        "--dry-run",
        action="store_true",
        help="validate the configuration and print it, without running",
    )
    add("--emit-summary", action="store_true", help="print the resolved configuration as JSON")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="override a parameter")
    add("--algo", metavar="ID", help="override the algorithm")
    add("--env-id", metavar="ID", help="override the environment")
    add("--seed", type=int, metavar="N", help="override the seed")
    add("--total-timesteps", type=int, metavar="N", help="override the number of steps")
    add("--max-episodes", type=int, metavar="N", help="override the number of episodes")
    add(
        "--heartbeat-seconds",
        type=float,
        default=PERIOD_SECONDS,
        metavar="S",
        help="time between heartbeats (default %(default)s)",
    )
    add("--grpc", action="store_true", help="ignored; accepted for compatibility")
    add("--grpc-target", metavar="ADDRESS", help="ignored; accepted for compatibility")
    return parser


def _add_parameter(group: argparse._ArgumentGroup, parameter: Parameter) -> None:
    names = [f"--{parameter.name.replace('_', '-')}"]
    if "_" in parameter.name:
        names.append(f"--{parameter.name}")
    text = f"{parameter.help} (default {parameter.default})".strip().replace("%", "%%")
    is_switch = parameter.type == "bool"
    group.add_argument(
        *names,
        dest=f"param_{parameter.name}",
        metavar=parameter.unit or parameter.type,
        nargs="?" if is_switch else None,
        const="true" if is_switch else None,
        help=text,
    )

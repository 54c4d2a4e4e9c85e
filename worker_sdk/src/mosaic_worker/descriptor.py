"""Descriptor: what a worker offers. `--describe` prints it; forms and badges are built from it."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from mosaic_worker.parameter import Parameter

LANES = ("telemetry", "analytics", "hybrid")
MODES = ("train", "play", "evaluate", "sweep")
GPU = ("none", "optional", "required")

# Fields of a run and common flags: a parameter with such a name would be ambiguous.
RESERVED_NAMES = frozenset(
    {
        *("algo", "env_id", "env_kwargs", "max_episodes", "mode", "seed", "total_timesteps"),
        *("config", "describe", "dry_run", "emit_summary", "grpc", "grpc_target"),
        *("heartbeat_seconds", "help", "set"),
    }
)


class Algorithm(NamedTuple):
    """One algorithm and its parameters."""

    id: str
    label: str
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    action_spaces: tuple[str, ...] = ()
    gpu: str = "none"
    recommended: Mapping[str, Mapping[str, Any]] = {}
    page: str = ""
    """Help page in Markdown."""
    families: tuple[str, ...] = ()
    """Families of environments it supports; empty: all of the worker's."""

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "label": self.label,
            "doc": self.doc,
            "parameters": [parameter.to_json() for parameter in self.parameters],
            "action_spaces": list(self.action_spaces),
            "families": list(self.families),
            "gpu": self.gpu,
            "recommended": {family: dict(values) for family, values in self.recommended.items()},
            "page": self.page,
        }

    def check(self) -> None:
        """Raise ValueError if the declaration is invalid."""
        if self.gpu not in GPU:
            raise ValueError(f"algorithm {self.id}: gpu {self.gpu!r} is not one of {GPU}")
        names = [parameter.name for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.check()
            if parameter.name in RESERVED_NAMES or names.count(parameter.name) > 1:
                raise ValueError(
                    f"algorithm {self.id}: the name {parameter.name!r} is reserved or used twice"
                )
        unknown = {name for values in self.recommended.values() for name in values} - set(names)
        if unknown:
            raise ValueError(
                f"algorithm {self.id}: recommended has unknown parameters {sorted(unknown)}"
            )


class Environments(NamedTuple):
    """Environments that the worker supports: families, single ids, or any id."""

    families: tuple[str, ...] = ()
    any: bool = False
    ids: tuple[str, ...] = ()


class Supports(NamedTuple):
    """Optional features of the worker. Unsupported ones are hidden from the user."""

    policy_load: bool = False
    warm_start: bool = False
    resume: bool = False
    pause: bool = False
    checkpoints: bool = False
    minimal_telemetry: bool = False
    scripts: bool = False
    """Whether it runs third-party scripts; `main` sets it if `describe_script` is passed."""


class Needs(NamedTuple):
    """Requirements of the worker."""

    bundle: str | None = None
    extras: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    network: bool = False
    credentials: tuple[str, ...] = ()
    dataset: bool = False


class Descriptor(NamedTuple):
    """A worker, its algorithms and its features."""

    worker: str
    label: str
    version: str
    algorithms: tuple[Algorithm, ...]
    summary: str = ""
    lane: str = "telemetry"
    modes: tuple[str, ...] = ("train",)
    environments: Environments = Environments()
    supports: Supports = Supports()
    needs: Needs = Needs()
    tabs: tuple[str, ...] = ()
    licence: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "worker": self.worker,
            "label": self.label,
            "version": self.version,
            "summary": self.summary,
            "lane": self.lane,
            "modes": list(self.modes),
            "algorithms": [algorithm.to_json() for algorithm in self.algorithms],
            "environments": _group_to_json(self.environments),
            "supports": _group_to_json(self.supports),
            "needs": _group_to_json(self.needs),
            "tabs": list(self.tabs),
            "licence": list(self.licence),
        }

    def check(self) -> None:
        """Raise ValueError if the descriptor is invalid."""
        if self.lane not in LANES:
            raise ValueError(f"lane {self.lane!r} is not one of {LANES}")
        if not self.modes or not set(self.modes) <= set(MODES):
            raise ValueError(f"modes {self.modes!r} must be a non-empty subset of {MODES}")
        if not self.algorithms:
            raise ValueError("a worker needs at least one algorithm")
        for algorithm in self.algorithms:
            algorithm.check()
            names = [parameter.name for parameter in algorithm.parameters]
            if self.supports.scripts and "script" in names:
                raise ValueError(f"algorithm {algorithm.id}: the name 'script' is reserved")


def _group_to_json(group: Any) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in group._asdict().items()
    }

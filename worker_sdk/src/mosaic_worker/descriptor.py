"""What a worker says about itself: `--describe` prints it, forms and badges are made from it."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from mosaic_worker.parameter import Parameter

LANES = ("telemetry", "analytics", "hybrid")
MODES = ("train", "play", "evaluate", "sweep")
GPU = ("none", "optional", "required")

# Fields of a run, and flags of every worker: a parameter of that name could not be told apart.
RESERVED_NAMES = frozenset(
    {
        *("algo", "env_id", "env_kwargs", "max_episodes", "mode", "seed", "total_timesteps"),
        *("config", "describe", "dry_run", "emit_summary", "grpc", "grpc_target"),
        *("heartbeat_seconds", "help", "set"),
    }
)


class Algorithm(NamedTuple):
    """One way of training, with all its parameters."""

    id: str
    label: str
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    action_spaces: tuple[str, ...] = ()
    gpu: str = "none"
    recommended: Mapping[str, Mapping[str, Any]] = {}
    page: str = ""
    """A longer help, in Markdown."""
    families: tuple[str, ...] = ()
    """Only environments of these; empty: all that the worker takes."""

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
        """ValueError when the algorithm makes no sense."""
        if self.gpu not in GPU:
            raise ValueError(f"algorithm {self.id}: gpu {self.gpu!r} is not one of {GPU}")
        names = [parameter.name for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.check()
            if parameter.name in RESERVED_NAMES or names.count(parameter.name) > 1:
                raise ValueError(f"algorithm {self.id}: the name {parameter.name!r} is taken")
        unknown = {name for values in self.recommended.values() for name in values} - set(names)
        if unknown:
            raise ValueError(f"algorithm {self.id}: recommended names unknown {sorted(unknown)}")


class Environments(NamedTuple):
    """Which environments the worker can run: families, single ids, or any id at all."""

    families: tuple[str, ...] = ()
    any: bool = False
    ids: tuple[str, ...] = ()


class Supports(NamedTuple):
    """What the worker can do beyond running. What is not said is hidden from the user."""

    policy_load: bool = False
    warm_start: bool = False
    resume: bool = False
    pause: bool = False
    checkpoints: bool = False
    minimal_telemetry: bool = False
    scripts: bool = False
    """Whether it runs scripts of others; `main` sets it for a worker that describes them."""


class Needs(NamedTuple):
    """What must be there before the worker can run."""

    bundle: str | None = None
    extras: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    network: bool = False
    credentials: tuple[str, ...] = ()
    dataset: bool = False


class Descriptor(NamedTuple):
    """The whole worker."""

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
            "environments": _as_json(self.environments),
            "supports": _as_json(self.supports),
            "needs": _as_json(self.needs),
            "tabs": list(self.tabs),
            "licence": list(self.licence),
        }

    def check(self) -> None:
        """ValueError when the descriptor makes no sense; a worker's own tests see it at once."""
        if self.lane not in LANES:
            raise ValueError(f"lane {self.lane!r} is not one of {LANES}")
        if not self.modes or not set(self.modes) <= set(MODES):
            raise ValueError(f"modes {self.modes!r} must be some of {MODES}")
        if not self.algorithms:
            raise ValueError("a worker needs at least one algorithm")
        for algorithm in self.algorithms:
            algorithm.check()
            names = [parameter.name for parameter in algorithm.parameters]
            if self.supports.scripts and "script" in names:
                raise ValueError(f"algorithm {algorithm.id}: the name 'script' is taken")


def _as_json(group: Any) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in group._asdict().items()
    }

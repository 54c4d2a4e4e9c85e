"""Admission: which of the waiting runs may start now. Pure functions of numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mosaic.contract.run_config import Mode, ResourcesConfig


@dataclass(frozen=True, slots=True)
class Capacity:
    """The total resources for all runs."""

    runs: int
    cpus: int
    memory_mb: int
    gpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """The resources of one run."""

    cpus: int
    memory_mb: int
    gpus: tuple[int, ...] = ()
    slots: int = 1
    """How many of the maximum number of runs it counts for."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued run."""

    run_id: str
    resources: ResourcesConfig
    mode: Mode = "train"

    @property
    def cpus(self) -> int:
        return cpus_taken(self.mode, self.resources)

    @property
    def slots(self) -> int:
        return slots_taken(self.mode)


def cpus_taken(mode: Mode, resources: ResourcesConfig) -> int:
    """0 for a session, which must start at once, and for a sweep, whose trials do the work."""
    return 0 if mode in ("play", "sweep") else resources.cpus


def slots_taken(mode: Mode) -> int:
    """A sweep does not count, or its trials could never start."""
    return 0 if mode == "sweep" else 1


@dataclass(slots=True)
class Admission:
    """Which runs start with which resources, and why the others wait."""

    granted: dict[str, Grant] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)


def shortfall(resources: ResourcesConfig, capacity: Capacity) -> str | None:
    """Why a run can never start here; None if it can."""
    for name, requested, available in (
        ("CPUs", resources.cpus, capacity.cpus),
        ("GPUs", resources.gpus, len(capacity.gpus)),
        ("MB of memory", resources.memory_mb or 0, capacity.memory_mb),
    ):
        if requested > available:
            return f"it requests {requested} {name}, and the maximum is {available}"
    return None


def admit(
    waiting: Sequence[Waiting], granted: Mapping[str, Grant], capacity: Capacity
) -> Admission:
    """Admit runs in the order of `waiting`, most urgent first.

    The needs of a run that does not fit are reserved, so that smaller runs behind it start only
    with what it could not use anyway and never delay it indefinitely.
    """
    free = _Free(capacity, granted.values())
    admission = Admission()
    for run in waiting:
        lack = shortfall(run.resources, capacity)
        if lack is not None:  # the machine or the settings have changed since it was submitted
            admission.waits[run.run_id] = f"{lack}; stop it, or raise the daemon's limits"
            continue
        obstacle = free.obstacle(run)
        if obstacle is None:
            admission.granted[run.run_id] = free.allocate(run)
        else:
            admission.waits[run.run_id] = obstacle
            free.reserve(run)
    return admission


class _Free:
    def __init__(self, capacity: Capacity, granted: Iterable[Grant]) -> None:
        taken = list(granted)
        in_use = {gpu for grant in taken for gpu in grant.gpus}
        self._capacity = capacity
        self._runs = capacity.runs - sum(grant.slots for grant in taken)
        self._cpus = capacity.cpus - sum(grant.cpus for grant in taken)
        self._memory_mb = capacity.memory_mb - sum(grant.memory_mb for grant in taken)
        self._gpus = [gpu for gpu in capacity.gpus if gpu not in in_use]
        self._gpus_reserved = 0

    def obstacle(self, run: Waiting) -> str | None:
        resources = run.resources
        if self._runs < run.slots:
            return f"{self._capacity.runs} runs are running, which is the maximum"
        for name, requested, free, available in (
            ("CPUs", run.cpus, self._cpus, self._capacity.cpus),
            (
                "GPUs",
                resources.gpus,
                len(self._gpus) - self._gpus_reserved,
                len(self._capacity.gpus),
            ),
            ("MB of memory", resources.memory_mb or 0, self._memory_mb, self._capacity.memory_mb),
        ):
            if requested > max(free, 0):
                return f"it requests {requested} {name}, and {max(free, 0)} of {available} are free"
        return None

    def allocate(self, run: Waiting) -> Grant:
        gpus, self._gpus = self._gpus[: run.resources.gpus], self._gpus[run.resources.gpus :]
        grant = Grant(run.cpus, run.resources.memory_mb or 0, tuple(gpus), run.slots)
        self._runs -= grant.slots
        self._cpus -= grant.cpus
        self._memory_mb -= grant.memory_mb
        return grant

    def reserve(self, run: Waiting) -> None:
        if self._runs >= 1:
            self._runs -= run.slots
        self._cpus -= run.cpus
        self._memory_mb -= run.resources.memory_mb or 0
        self._gpus_reserved += run.resources.gpus

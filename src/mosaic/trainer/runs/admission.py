"""Which of the waiting runs may start now. Pure: it looks at numbers and returns a choice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mosaic.contract.run_config import Mode, ResourcesConfig


@dataclass(frozen=True, slots=True)
class Capacity:
    """What all runs may have together."""

    runs: int
    cpus: int
    memory_mb: int
    gpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """What one run was given."""

    cpus: int
    memory_mb: int
    gpus: tuple[int, ...] = ()
    places: int = 1
    """Among the runs that may go at once."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that wants to start."""

    run_id: str
    wants: ResourcesConfig
    mode: Mode = "train"

    @property
    def cpus(self) -> int:
        return cpus_taken(self.mode, self.wants)

    @property
    def places(self) -> int:
        return places_taken(self.mode)


def cpus_taken(mode: Mode, wants: ResourcesConfig) -> int:
    """None by a session, which somebody sits in front of, nor by a sweep: its trials do the work.

    Neither ever waits for one.
    """
    return 0 if mode in ("play", "sweep") else wants.cpus


def places_taken(mode: Mode) -> int:
    """A sweep leaves its place to its trials, which could never start otherwise."""
    return 0 if mode == "sweep" else 1


@dataclass(slots=True)
class Admission:
    """Who starts with what, and why the others wait."""

    granted: dict[str, Grant] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)


def shortfall(wants: ResourcesConfig, capacity: Capacity) -> str | None:
    """Why a run could never start here; None when it could."""
    for name, wanted, there in (
        ("CPUs", wants.cpus, capacity.cpus),
        ("GPUs", wants.gpus, len(capacity.gpus)),
        ("MB of memory", wants.memory_mb or 0, capacity.memory_mb),
    ):
        if wanted > there:
            return f"{wanted} {name} are asked for, and runs may have {there} here"
    return None


def admit(
    waiting: Sequence[Waiting], granted: Mapping[str, Grant], capacity: Capacity
) -> Admission:
    """Goes through `waiting`, most urgent first.

    One that does not fit keeps what it needs reserved, so that smaller ones behind it start only
    with what it could not use anyway, and it is never overtaken for good.
    """
    free = _Free(capacity, granted.values())
    admission = Admission()
    for run in waiting:
        lack = shortfall(run.wants, capacity)
        if lack is not None:  # the machine or the settings have changed since it was taken in
            admission.waits[run.run_id] = f"{lack}; stop it, or give the daemon more"
            continue
        obstacle = free.obstacle(run)
        if obstacle is None:
            admission.granted[run.run_id] = free.take(run)
        else:
            admission.waits[run.run_id] = obstacle
            free.reserve(run)
    return admission


class _Free:
    def __init__(self, capacity: Capacity, granted: Iterable[Grant]) -> None:
        taken = list(granted)
        in_use = {gpu for grant in taken for gpu in grant.gpus}
        self._capacity = capacity
        self._runs = capacity.runs - sum(grant.places for grant in taken)
        self._cpus = capacity.cpus - sum(grant.cpus for grant in taken)
        self._memory_mb = capacity.memory_mb - sum(grant.memory_mb for grant in taken)
        self._gpus = [gpu for gpu in capacity.gpus if gpu not in in_use]
        self._gpus_reserved = 0

    def obstacle(self, run: Waiting) -> str | None:
        wants = run.wants
        if self._runs < run.places:
            return f"{self._capacity.runs} runs are going, and no more may at once"
        for name, wanted, free, there in (
            ("CPUs", run.cpus, self._cpus, self._capacity.cpus),
            (
                "GPUs",
                wants.gpus,
                len(self._gpus) - self._gpus_reserved,
                len(self._capacity.gpus),
            ),
            ("MB of memory", wants.memory_mb or 0, self._memory_mb, self._capacity.memory_mb),
        ):
            if wanted > max(free, 0):
                return f"{wanted} {name} are asked for, {max(free, 0)} of {there} are free"
        return None

    def take(self, run: Waiting) -> Grant:
        gpus, self._gpus = self._gpus[: run.wants.gpus], self._gpus[run.wants.gpus :]
        grant = Grant(run.cpus, run.wants.memory_mb or 0, tuple(gpus), run.places)
        self._runs -= grant.places
        self._cpus -= grant.cpus
        self._memory_mb -= grant.memory_mb
        return grant

    def reserve(self, run: Waiting) -> None:
        if self._runs >= 1:
            self._runs -= run.places
        self._cpus -= run.cpus
        self._memory_mb -= run.wants.memory_mb or 0
        self._gpus_reserved += run.wants.gpus

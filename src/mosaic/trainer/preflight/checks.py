"""The run that is looked at: its configuration, and what its worker says of itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.run_config import StepDetail, TrainRunConfig
from mosaic.contract.worker_manifest import WorkerManifest


@dataclass(frozen=True, slots=True)
class Candidate:
    """What every check may look at."""

    config: TrainRunConfig
    manifest: WorkerManifest
    descriptor: WorkerDescriptor

    @property
    def worker(self) -> str:
        return self.config.worker

    @property
    def algorithm(self) -> Algorithm | None:
        """The one that will run: a worker with a single one takes that when none is named.

        Of a run with a script, the descriptor has that script and nothing else.
        """
        algorithms = self.descriptor.algorithms
        is_only_one = self.config.algo is None or self.config.script is not None
        if is_only_one and len(algorithms) == 1:
            return algorithms[0]
        return self.descriptor.algorithm(self.config.algo or "")

    @property
    def bundle_name(self) -> str:
        """Empty when the worker needs Python alone."""
        return self.manifest.bundle_for(self.config.bundle, self.config.script) or ""

    @property
    def step_detail(self) -> StepDetail:
        """How much the run will tell of each step."""
        return self.descriptor.step_detail(self.config.mode, self.config.telemetry.steps)

    def resolved_params(self) -> Mapping[str, Any]:
        """Every parameter's value, those not given by their defaults."""
        algorithm = self.algorithm
        if algorithm is None:
            return {}
        return validate_params(self.descriptor, algorithm.id, self.config.params).values


Items = Iterator[PreflightItem]


def ok(check: str, message: str) -> PreflightItem:
    """It is as it must be."""
    return PreflightItem(check=check, status=CheckStatus.OK, message=message)


def warning(
    check: str, message: str, remedy: str, *, action: str = "", argument: str = ""
) -> PreflightItem:
    """The run can start, but a person should know."""
    return PreflightItem(
        check=check,
        status=CheckStatus.WARNING,
        message=message,
        remedy=remedy,
        action=action,
        action_argument=argument,
    )


def blocking(
    check: str, message: str, remedy: str, *, action: str = "", argument: str = ""
) -> PreflightItem:
    """The run would fail, or never start."""
    return PreflightItem(
        check=check,
        status=CheckStatus.BLOCKING,
        message=message,
        remedy=remedy,
        action=action,
        action_argument=argument,
    )


def listing(names: Iterable[str]) -> str:
    """Names as a sentence shows them."""
    return ", ".join(f"`{name}`" for name in names) or "none"

"""What preflight checks share: the run that they check, and the report items they yield."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, validate_params
from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.contract.run_config import StepDetail, TrainRunConfig
from mosaic.contract.worker_manifest import WorkerManifest


@dataclass(frozen=True, slots=True)
class Candidate:
    """The run to check: its configuration, and its worker's manifest and descriptor."""

    config: TrainRunConfig
    manifest: WorkerManifest
    descriptor: WorkerDescriptor

    @property
    def worker(self) -> str:
        return self.config.worker

    @property
    def algorithm(self) -> Algorithm | None:
        """The algorithm that will run; a worker with a single one uses it by default.

        For a run with a script, the descriptor has that script as its only algorithm.
        """
        algorithms = self.descriptor.algorithms
        is_only_one = self.config.algo is None or self.config.script is not None
        if is_only_one and len(algorithms) == 1:
            return algorithms[0]
        return self.descriptor.algorithm(self.config.algo or "")

    @property
    def bundle_name(self) -> str:
        """Empty when the worker needs no packages."""
        return self.manifest.bundle_for(self.config.bundle, self.config.script) or ""

    @property
    def step_detail(self) -> StepDetail:
        """The level of detail of recorded steps."""
        return self.descriptor.step_detail(self.config.mode, self.config.telemetry.steps)

    def resolved_params(self) -> Mapping[str, Any]:
        """All parameter values, including defaults."""
        algorithm = self.algorithm
        if algorithm is None:
            return {}
        return validate_params(self.descriptor, algorithm.id, self.config.params).values


Items = Iterator[PreflightItem]


def ok(check: str, message: str) -> PreflightItem:
    """The check passed."""
    return PreflightItem(check=check, status=CheckStatus.OK, message=message)


def warning(
    check: str, message: str, remedy: str, *, action: str = "", argument: str = ""
) -> PreflightItem:
    """The run can start, but the user should know."""
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
    """The run would fail or never start."""
    return PreflightItem(
        check=check,
        status=CheckStatus.BLOCKING,
        message=message,
        remedy=remedy,
        action=action,
        action_argument=argument,
    )


def join_names(names: Iterable[str]) -> str:
    """Names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names) or "none"

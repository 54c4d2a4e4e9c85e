"""SelectedRun: the run that all panels show, with its metadata.

Pages of one run use it instead of fetching the metadata themselves.
"""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_metadata import RunMetadata, fetch_run_metadata
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord

_EMPTY_MANIFEST = ArtifactManifest()


class SelectedRun(QObject):
    """Created once, by the wiring. The metadata arrives after the run itself."""

    changed = Signal()
    """Another run, or its record changed."""
    metadata_changed = Signal()
    """Configuration, manifest or history changed; also if another run is selected."""

    def __init__(self, services: Services, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.problem: UserError | None = None
        """Why its metadata could not be fetched."""
        self._services = services
        self._runs = runs
        self._metadata: RunMetadata | None = None
        self._metadata_state: RunState | None = None
        self._is_fetching = False
        self._is_outdated = False
        runs.run_changed.connect(self._on_run_changed)
        runs.artifacts_changed.connect(self._on_artifacts_changed)
        services.link.connected.connect(self.refresh)
        services.link.recovered.connect(self.refresh)

    def select(self, run_id: str) -> None:
        if run_id == self.run_id:
            return
        self.run_id = run_id
        self._metadata = self.problem = self._metadata_state = None
        self.changed.emit()
        self.metadata_changed.emit()
        self.refresh()

    @property
    def run(self) -> RunRecord | None:
        return self._runs.by_id(self.run_id)

    @property
    def details(self) -> RunDetails | None:
        return self._metadata.details if self._metadata else None

    @property
    def config(self) -> TrainRunConfig | None:
        return self._metadata.config if self._metadata else None

    @property
    def resolved(self) -> dict[str, Any] | None:
        """Every value as the worker resolved it; None until the worker has reported it."""
        return self._metadata.resolved if self._metadata else None

    @property
    def manifest(self) -> ArtifactManifest:
        """Empty until it is fetched."""
        return self._metadata.manifest if self._metadata else _EMPTY_MANIFEST

    @property
    def descriptor(self) -> WorkerDescriptor | None:
        return self._metadata.descriptor if self._metadata else None

    @property
    def event_types(self) -> frozenset[str]:
        """The types of its recorded events, as of the last fetch."""
        return self._metadata.event_types if self._metadata else frozenset()

    @property
    def directory(self) -> Path | None:
        return self._metadata.directory if self._metadata else None

    @property
    def is_known(self) -> bool:
        """Its metadata has been fetched."""
        return self._metadata is not None

    def refresh(self) -> None:
        """Fetch the metadata. Requests during a fetch cause one more fetch afterwards."""
        if self._is_fetching:
            self._is_outdated = True
            return
        if not self.run_id or not self._services.link.has_client:
            return
        home, run_id, run = self._services.link.home, self.run_id, self.run
        self._is_fetching, self._is_outdated = True, False
        self._metadata_state = run.state if run else None

        def on_answer(metadata: RunMetadata | None, problem: UserError | None) -> None:
            self._is_fetching = False
            if run_id == self.run_id:
                self._metadata = metadata or self._metadata
                self.problem = problem
                self.metadata_changed.emit()
            if self._is_outdated or run_id != self.run_id:
                self.refresh()

        self._services.call(
            self,
            lambda client: fetch_run_metadata(client, home, run_id),
            lambda metadata: on_answer(metadata, None),
            lambda error: on_answer(None, error),
        )

    def _on_run_changed(self, run_id: str) -> None:
        if run_id != self.run_id:
            return
        self.changed.emit()
        run = self.run
        if run is not None and run.state is not self._metadata_state:
            self.refresh()

    def _on_artifacts_changed(self, run_id: str) -> None:
        if run_id == self.run_id:
            self.refresh()

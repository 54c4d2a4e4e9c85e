"""SelectedRun: the run that all panels are about, with its metadata, up to date.

Pages about one run take it and never fetch these themselves.
"""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.run_metadata import RunMetadata, fetch_run_metadata
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord

_NOTHING_LEFT = ArtifactManifest()


class SelectedRun(QObject):
    """Made once, by the wiring. Papers come a moment after the run itself."""

    changed = Signal()
    """Another run, or its state or figures are new."""
    metadata_changed = Signal()
    """Configuration, manifest or history are new; also when another run is shown."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.problem: UserError | None = None
        """Why its metadata could not be fetched."""
        self._link = link
        self._tasks = tasks
        self._runs = runs
        self._metadata: RunMetadata | None = None
        self._metadata_state: RunState | None = None
        self._is_fetching = False
        self._is_outdated = False
        runs.run_changed.connect(self._on_run_changed)
        runs.artifacts_changed.connect(self._on_artifacts_changed)
        link.connected.connect(self.refresh)
        link.recovered.connect(self.refresh)

    def show(self, run_id: str) -> None:
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
        """Every value as the worker resolved it; None until it has said so."""
        return self._metadata.resolved if self._metadata else None

    @property
    def manifest(self) -> ArtifactManifest:
        """Empty until it is known."""
        return self._metadata.manifest if self._metadata else _NOTHING_LEFT

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
        """One question at a time; what is asked meanwhile is asked once afterwards."""
        if self._is_fetching:
            self._is_outdated = True
            return
        if not self.run_id or not self._link.has_client:
            return
        client, home, run_id, run = self._link.client, self._link.home, self.run_id, self.run
        self._is_fetching, self._is_outdated = True, False
        self._metadata_state = run.state if run else None

        def answered(metadata: RunMetadata | None, problem: UserError | None) -> None:
            self._is_fetching = False
            if run_id == self.run_id:
                self._metadata = metadata or self._metadata
                self.problem = problem
                self.metadata_changed.emit()
            if self._is_outdated or run_id != self.run_id:
                self.refresh()

        self._tasks.run(
            self,
            lambda: fetch_run_metadata(client, home, run_id),
            lambda metadata: answered(metadata, None),
            lambda error: answered(None, error),
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

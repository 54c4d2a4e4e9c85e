"""TensorBoardModel: event files of the selected run, and the TensorBoard servers.

TensorBoard itself is optional: the page lists the curves, and the charts plot them.
"""

import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.embedded_choice import EmbeddedChoice
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.tensorboard.feed.event_folders import check_folder, folder_of_run
from gym_gui.tensorboard.feed.tensorboard_servers import (
    ServerState,
    TensorBoardProgram,
    TensorBoardServer,
    TensorBoardServers,
    find_tensorboard,
)
from gym_gui.tensorboard.model.selected_events import SelectedEvents
from gym_gui.tensorboard.model.tensorboard_export import EventExport
from gym_gui.tensorboard.model.tensorboard_text import (
    HeaderText,
    ServerSummary,
    header_text,
    server_summary,
)
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import FINAL_STATES
from mosaic.contract.runs import RunRecord

NO_RUN = "Select a run in the list."
NO_FILES = "This run has written no event files."
NO_FILES_YET = "This run has written no event files yet."


class TensorBoardModel(QObject):
    """Created by `AnalysisModels` at first use."""

    changed = Signal()
    address_ready = Signal(str)
    """Address of a requested TensorBoard server that is ready to open."""
    reveal_requested = Signal(str)
    """A folder to open in the file manager."""

    def __init__(
        self,
        services: Services,
        selected: SelectedRun,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.selected = selected
        self.runs = runs
        self.events = SelectedEvents(services, selected, self)
        self.embedded = EmbeddedChoice(services.settings, self)
        self.missing_program: UserError | None = None
        """Why TensorBoard is not installed; None if it is."""
        self.program: TensorBoardProgram | None = None
        self.preparing = ""
        """Current preparation step, for display; empty if there is none."""
        self.export = EventExport(services, self)
        self._services = services
        self._servers = TensorBoardServers(services.ticker, self)
        self._stop = threading.Event()
        self._requested: list[TensorBoardServer] = []
        self._servers.changed.connect(self._on_servers)
        self.export.changed.connect(self.changed)
        self.export.done.connect(self.events.reload)
        self.events.changed.connect(self.changed)
        selected.changed.connect(self.changed)
        self.find_program()

    # State.

    @property
    def servers(self) -> tuple[ServerSummary, ...]:
        """The server of the selected run first."""
        now, own = time.time(), self._own_server
        ordered = sorted(self._servers.servers, key=lambda server: server is not own)
        return tuple(server_summary(server, now) for server in ordered)

    @property
    def server(self) -> ServerSummary | None:
        """The server of the selected run."""
        own = self._own_server
        return None if own is None else server_summary(own, time.time())

    @property
    def title(self) -> str:
        run = self.selected.run
        return run_text.title_of(run) if run is not None else ""

    @property
    def why_not(self) -> str:
        """Why TensorBoard cannot open the selected run; empty if it can."""
        return self.why_no_program or self.why_no_events

    @property
    def why_no_program(self) -> str:
        return (
            f"{self.missing_program.message} {self.missing_program.remedy}"
            if self.missing_program
            else ""
        )

    @property
    def why_no_events(self) -> str:
        run = self.selected.run
        if run is None:
            return NO_RUN
        if self.events.is_searching:
            return "Searching for event files."
        if self.events.summary is None:
            return NO_FILES if run.state in FINAL_STATES else NO_FILES_YET
        return ""

    @property
    def header(self) -> HeaderText:
        return header_text(self.events.summary, self.server, self.why_not, self.preparing)

    @property
    def why_not_export(self) -> str:
        return self.export.why_not(self.selected.run)

    def set_page_visible(self, is_visible: bool) -> None:
        """Files are read only while the page is visible."""
        self.events.set_page_visible(is_visible)
        if is_visible:
            self.find_program()

    # Actions.

    def open(self) -> None:
        """Open the selected run in TensorBoard; emits `address_ready`."""
        run, summary = self.selected.run, self.events.summary
        if run is not None and summary is not None:
            self._open({run_text.title_of(run): summary.folder})
        elif run is not None:
            self.open_runs([run.run_id])

    def open_runs(self, run_ids: Iterable[str]) -> None:
        """Open several runs in one TensorBoard; runs without event files are exported first."""
        requested = [run for run in map(self.runs.by_id, run_ids) if run is not None]
        if not requested or not self._services.link.has_client or self.preparing:
            return
        client, home, stop = self._services.link.client, self._services.link.home, self._stop
        count = run_text.run_count(len(requested))
        self._set_preparing(f"Collecting event files of {count}…")

        def collect() -> tuple[dict[str, Path], list[UserError]]:
            folders: dict[str, Path] = {}
            problems: list[UserError] = []
            for name, run in zip(_names(requested), requested, strict=True):
                try:
                    folders[name] = folder_of_run(client, home, run, stop, lambda _: None)
                except UserError as error:
                    problem = UserError(f"{name}: {error.message}", remedy=error.remedy)
                    problems.append(problem)
            return folders, problems

        self._services.tasks.run(self, collect, self._on_collected, self._on_failed)

    def open_folder(self, folder: Path) -> None:
        """Open any folder that contains event files."""
        if self.preparing:
            return
        self._set_preparing(f"Reading {folder.name or folder}…")
        self._services.tasks.run(
            self,
            lambda: check_folder(folder.expanduser().absolute()),
            lambda checked: self._open({checked.name or str(checked): checked}),
            self._on_failed,
        )

    def export_event_files(self, run_id: str) -> None:
        run = self.runs.by_id(run_id)
        if run is not None:
            self.export.start(run)

    def stop(self, server: TensorBoardServer) -> None:
        """Stop it; a failed one is removed from the list."""
        self._servers.stop(server)

    def retry(self, server: TensorBoardServer) -> None:
        self._open(server.folders)

    def show_address(self, address: str) -> None:
        """Open the address of a running server."""
        self.address_ready.emit(address)

    def reveal(self) -> None:
        if self.events.summary is not None:
            self.reveal_requested.emit(str(self.events.summary.folder))

    def find_program(self) -> None:
        """Search again, because a bundle may have been installed or removed."""
        home = self._services.link.home
        self._services.tasks.run(
            self, lambda: find_tensorboard(home), self._on_program, self._on_no_program
        )

    def close(self) -> None:
        """Stop all servers without waiting."""
        self._stop.set()
        self.export.close()
        self._servers.close()

    def join(self, timeout_s: float) -> bool:
        return self._servers.join(timeout_s)

    # Servers.

    @property
    def _own_server(self) -> TensorBoardServer | None:
        summary = self.events.summary
        return self._servers.find({"": summary.folder}) if summary else None

    def _set_preparing(self, text: str) -> None:
        self.preparing = text
        self.changed.emit()

    def _on_collected(self, collected: tuple[dict[str, Path], list[UserError]]) -> None:
        folders, problems = collected
        for problem in problems[:1]:
            self._services.notices.post_error(problem)
        if folders:
            self._open(folders)
        else:
            self._set_preparing("")

    def _open(self, folders: Mapping[str, Path]) -> None:
        home = self._services.link.home
        self._set_preparing("Searching for TensorBoard…")

        def start(program: TensorBoardProgram) -> None:
            self.preparing = ""
            self.program, self.missing_program = program, None
            server = self._servers.open(program, folders)
            if server.state is ServerState.RUNNING:
                self.address_ready.emit(server.address)
            else:
                self._requested.append(server)
            self.changed.emit()

        self._services.tasks.run(self, lambda: find_tensorboard(home), start, self._on_absent)

    def _on_program(self, program: TensorBoardProgram) -> None:
        if program != self.program or self.missing_program:
            self.program, self.missing_program = program, None
            self.changed.emit()

    def _on_no_program(self, error: UserError) -> None:
        self.program, self.missing_program = None, error
        self.changed.emit()

    def _on_absent(self, error: UserError) -> None:
        self._on_no_program(error)
        self._on_failed(error)

    def _on_failed(self, error: UserError) -> None:
        self._set_preparing("")
        self._services.notices.post_error(error)

    def _on_servers(self) -> None:
        for server in tuple(self._requested):
            if server.state is ServerState.RUNNING:
                self.address_ready.emit(server.address)
            if server.state is not ServerState.STARTING:
                self._requested.remove(server)
        self.changed.emit()


def _names(runs: list[RunRecord]) -> list[str]:
    """Titles; the short id distinguishes equal titles."""
    titles = [run_text.title_of(run) for run in runs]
    return [
        title if titles.count(title) == 1 else f"{title} {run_text.short_id(run.run_id)}"
        for title, run in zip(titles, runs, strict=True)
    ]

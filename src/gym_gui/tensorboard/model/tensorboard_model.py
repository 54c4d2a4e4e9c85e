"""TensorBoardModel: event files of the shown run, and the TensorBoards that show them or others.

TensorBoard itself is never required: what its files hold is listed here, and drawn by the charts.
"""

import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.embedded_choice import EmbeddedChoice
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.settings_store import TextSettings
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
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
from gym_gui.tensorboard.model.tensorboard_looks import ServerLook, look_of
from gym_gui.tensorboard.model.tensorboard_text import HeadWords, head_words
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import FINAL_STATES
from mosaic.contract.runs import RunRecord

NO_RUN = "Select a run in the list below."
NO_FILES = "This run has written no event files."
NO_FILES_YET = "This run has written no event files yet."


class TensorBoardModel(QObject):
    """Made once, when it is first needed."""

    changed = Signal()
    address_ready = Signal(str)
    """A TensorBoard that a person asked for answers there: to be opened."""
    reveal_wanted = Signal(str)
    """A person wants to see that folder in the desktop's file manager."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        shown: SelectedRun,
        runs: RunsModel,
        settings: TextSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.shown = shown
        self.runs = runs
        self.events = SelectedEvents(link, tasks, notices, shown, self)
        self.embedded = EmbeddedChoice(settings, self)
        self.absent: UserError | None = None
        """Why there is no TensorBoard here."""
        self.program: TensorBoardProgram | None = None
        self.preparing = ""
        """What is done before TensorBoard can start, in words; empty when nothing is."""
        self.export = EventExport(link, tasks, pulse, notices, self)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._servers = TensorBoardServers(pulse, self)
        self._stop = threading.Event()
        self._wanted: list[TensorBoardServer] = []
        self._servers.changed.connect(self._on_servers)
        self.export.changed.connect(self.changed)
        self.export.done.connect(self.events.look_anew)
        self.events.changed.connect(self.changed)
        shown.changed.connect(self.changed)
        self.look_for_program()

    # What is there.

    @property
    def servers(self) -> tuple[ServerLook, ...]:
        """That of the shown run first."""
        now, own = time.time(), self._own_server
        ordered = sorted(self._servers.servers, key=lambda server: server is not own)
        return tuple(look_of(server, now) for server in ordered)

    @property
    def server(self) -> ServerLook | None:
        """That of the shown run."""
        own = self._own_server
        return None if own is None else look_of(own, time.time())

    @property
    def title(self) -> str:
        run = self.shown.run
        return run_text.title_of(run) if run is not None else ""

    @property
    def why_not(self) -> str:
        """Why TensorBoard cannot be opened for the shown run; empty when it can."""
        return self.why_no_program or self.why_no_events

    @property
    def why_no_program(self) -> str:
        return f"{self.absent.message} {self.absent.remedy}" if self.absent else ""

    @property
    def why_no_events(self) -> str:
        run = self.shown.run
        if run is None:
            return NO_RUN
        if self.events.is_looking:
            return "Its event files are being looked for."
        if self.events.found is None:
            return NO_FILES if run.state in FINAL_STATES else NO_FILES_YET
        return ""

    @property
    def words(self) -> HeadWords:
        return head_words(self.events.found, self.server, self.why_not, self.preparing)

    @property
    def why_not_export(self) -> str:
        return self.export.why_not(self.shown.run)

    def set_watched(self, is_watched: bool) -> None:
        """Files are read only while somebody looks."""
        self.events.set_watched(is_watched)
        if is_watched:
            self.look_for_program()

    # What a person does.

    def open(self) -> None:
        """TensorBoard for the shown run; `address_ready` follows."""
        run, found = self.shown.run, self.events.found
        if run is not None and found is not None:
            self._open({run_text.title_of(run): found.folder})
        elif run is not None:
            self.open_runs([run.run_id])

    def open_runs(self, run_ids: Iterable[str]) -> None:
        """One TensorBoard for several; runs without event files are exported first."""
        wanted = [run for run in map(self.runs.by_id, run_ids) if run is not None]
        if not wanted or not self._link.has_client or self.preparing:
            return
        client, home, stop = self._link.client, self._link.home, self._stop
        count = run_text.some_runs(len(wanted))
        self._prepare(f"Getting the event files of {count}…")

        def collect() -> tuple[dict[str, Path], list[UserError]]:
            folders: dict[str, Path] = {}
            problems: list[UserError] = []
            for name, run in zip(_names(wanted), wanted, strict=True):
                try:
                    folders[name] = folder_of_run(client, home, run, stop, lambda _: None)
                except UserError as error:
                    told = UserError(f"{name}: {error.message}", remedy=error.remedy)
                    problems.append(told)
            return folders, problems

        self._tasks.run(self, collect, self._on_collected, self._on_failed)

    def open_folder(self, folder: Path) -> None:
        """Any folder with event files in it or below."""
        if self.preparing:
            return
        self._prepare(f"Looking at {folder.name or folder}…")
        self._tasks.run(
            self,
            lambda: check_folder(folder.expanduser().absolute()),
            lambda found: self._open({found.name or str(found): found}),
            self._on_failed,
        )

    def export_event_files(self, run_id: str) -> None:
        run = self.runs.by_id(run_id)
        if run is not None:
            self.export.begin(run)

    def stop(self, server: TensorBoardServer) -> None:
        """End it; a failed one is taken off the list."""
        self._servers.stop(server)

    def retry(self, server: TensorBoardServer) -> None:
        self._open(server.folders)

    def show_address(self, address: str) -> None:
        """Of a server that is there."""
        self.address_ready.emit(address)

    def reveal(self) -> None:
        if self.events.found is not None:
            self.reveal_wanted.emit(str(self.events.found.folder))

    def look_for_program(self) -> None:
        """Again, since a bundle may have been installed or removed."""
        home = self._link.home
        self._tasks.run(self, lambda: find_tensorboard(home), self._on_program, self._on_no_program)

    def close(self) -> None:
        """All servers end; does not wait."""
        self._stop.set()
        self.export.close()
        self._servers.close()

    def join(self, timeout_s: float) -> bool:
        return self._servers.join(timeout_s)

    # Servers.

    @property
    def _own_server(self) -> TensorBoardServer | None:
        found = self.events.found
        return self._servers.find({"": found.folder}) if found else None

    def _prepare(self, words: str) -> None:
        self.preparing = words
        self.changed.emit()

    def _on_collected(self, collected: tuple[dict[str, Path], list[UserError]]) -> None:
        folders, problems = collected
        for problem in problems[:1]:
            self._notices.fail(problem)
        if folders:
            self._open(folders)
        else:
            self._prepare("")

    def _open(self, folders: Mapping[str, Path]) -> None:
        home = self._link.home
        self._prepare("Looking for TensorBoard…")

        def start(program: TensorBoardProgram) -> None:
            self.preparing = ""
            self.program, self.absent = program, None
            server = self._servers.open(program, folders)
            if server.state is ServerState.RUNNING:
                self.address_ready.emit(server.address)
            else:
                self._wanted.append(server)
            self.changed.emit()

        self._tasks.run(self, lambda: find_tensorboard(home), start, self._on_absent)

    def _on_program(self, program: TensorBoardProgram) -> None:
        if program != self.program or self.absent:
            self.program, self.absent = program, None
            self.changed.emit()

    def _on_no_program(self, error: UserError) -> None:
        self.program, self.absent = None, error
        self.changed.emit()

    def _on_absent(self, error: UserError) -> None:
        self._on_no_program(error)
        self._on_failed(error)

    def _on_failed(self, error: UserError) -> None:
        self._prepare("")
        self._notices.fail(error)

    def _on_servers(self) -> None:
        for server in tuple(self._wanted):
            if server.state is ServerState.RUNNING:
                self.address_ready.emit(server.address)
            if server.state is not ServerState.STARTING:
                self._wanted.remove(server)
        self.changed.emit()


def _names(runs: list[RunRecord]) -> list[str]:
    """What people call them; the end of the id tells those of one name apart."""
    titles = [run_text.title_of(run) for run in runs]
    return [
        title if titles.count(title) == 1 else f"{title} {run_text.short_id(run.run_id)}"
        for title, run in zip(titles, runs, strict=True)
    ]

"""RunPageModel: everything that the page of the selected run shows, and its actions.

The metadata comes from `SelectedRun`. Log and usage are read once their tab is opened, and then
for as long as the run is selected.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal

from gym_gui.run_page.feed.run_overview import (
    RunMetadata,
    RunOverview,
    copy_to_folder,
    fetch_run_metadata,
    fetch_run_overview,
    write_to_folder,
)
from gym_gui.run_page.model import run_artifacts, run_configuration, run_reproduction
from gym_gui.run_page.model.configuration_table import ConfigurationTable
from gym_gui.run_page.model.packages_table import PackagesTable
from gym_gui.run_page.model.run_checkpoints_table import CheckpointRow, RunCheckpointsTable
from gym_gui.run_page.model.run_usage_model import RunUsageModel
from gym_gui.runtime.models import run_actions, run_text
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

RunPageTab = Literal[
    "overview", "configuration", "log", "artifacts", "checkpoints", "system", "reproduce"
]
RunAction = Literal["pause", "resume", "stop", "replay", "duplicate", "compare"]
_OVERVIEW_INTERVAL_S = 3.0
"""While a run is active: its best episode changes with its stats."""


class RunLog(Protocol):
    """The log of a run; implemented by `RunLogModel` of the log room."""

    def show(self, run_id: str) -> None: ...
    def close(self) -> None: ...
    def join(self, timeout_s: float) -> bool: ...


class RunPageModel(QObject):
    """Created by `AnalysisModels` when the page is first opened."""

    changed = Signal()
    """State, stats, metadata or overview."""
    other_changed = Signal()
    """The run that this one is compared with."""
    show_requested = Signal(str)
    """A file or folder to open with the desktop."""

    def __init__(
        self,
        services: Services,
        selected: SelectedRun,
        runs: RunsModel,
        actions: RunActions,
        log: RunLog,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.selected = selected
        self.runs = runs
        self.actions = actions
        self.overview = RunOverview()
        self.other: RunMetadata | None = None
        self.other_problem: UserError | None = None
        self.log = log
        self.usage = RunUsageModel(services, self)
        self.configuration = ConfigurationTable(self)
        self.packages = PackagesTable(self)
        self.checkpoints = RunCheckpointsTable(self)
        self._services = services
        self._run_id = ""
        self._tab: RunPageTab = "overview"
        self._other_id = ""
        self._overview_fetched_at = float("-inf")
        self._is_fetching = False
        self._state: RunState | None = None
        selected.changed.connect(self._on_changed)
        selected.metadata_changed.connect(self._on_metadata_changed)
        services.link.connected.connect(self._on_metadata_changed)
        services.link.changed.connect(self.changed)
        self._on_changed()
        self._on_metadata_changed()

    @property
    def run(self) -> RunRecord | None:
        return self.selected.run

    @property
    def home(self) -> str:
        """The home folder, for commands."""
        return str(self._services.link.home.path)

    @property
    def is_up_to_date(self) -> bool:
        """Whether the daemon answers, so that the displayed state is current."""
        return self._services.link.is_ready

    # Tabs.

    def set_current_tab(self, tab: RunPageTab) -> None:
        """Start reading the data of this tab."""
        self._tab = tab
        if tab == "log":
            self.log.show(self._run_id)
        elif tab == "system":
            self.usage.show(self._run_id)

    @property
    def artifacts(self) -> list[run_artifacts.ArtifactRow]:
        return run_artifacts.rows_of(
            self.run, self.selected.config, self.selected.manifest, self.overview
        )

    def path_of(self, relative: str) -> str:
        """Absolute path of a file of the run; empty until it is known."""
        return str(self.selected.directory / relative) if self.selected.directory else ""

    def checkpoint_path(self, row: CheckpointRow) -> str:
        return str(self._services.link.home.path / row.checkpoint.path)

    # Reproducing.

    @property
    def train_command(self) -> str:
        """A shell command, wrapped if it is long; empty if there is none."""
        config = self.selected.config
        if config is None or self.is_human_played:
            return ""
        command = run_reproduction.train_command(config, self.path_of("config.json"))
        return run_reproduction.in_lines(command)

    @property
    def is_human_played(self) -> bool:
        """A person played it, so no command can reproduce it."""
        config = self.selected.config
        return config is not None and config.mode == "play" and config.actor == "human"

    @property
    def worker_command(self) -> str:
        details = self.selected.details
        return run_reproduction.in_lines(list(details.command)) if details else ""

    @property
    def environment(self) -> list[tuple[str, str]]:
        """Seed, Python, bundle and sources; names and values."""
        details, run = self.selected.details, self.run
        bundle = details.bundle if details else None
        rows = [("Seed", str(run.seed) if run else "")]
        if bundle is not None:
            extras = f" with {', '.join(bundle.extras)}" if bundle.extras else ""
            rows += [
                ("Python", bundle.python),
                ("Bundle", f"{bundle.name}{extras} · {bundle.hash}"),
                ("Worker sources", bundle.code_hash),
            ]
        rows.append(("Git commit", run_reproduction.git_text(self.selected.resolved)))
        return [(name, value) for name, value in rows if value]

    # Comparing with another run.

    @property
    def other_id(self) -> str:
        return self._other_id

    @property
    def candidates(self) -> list[RunRecord]:
        """Runs to compare with: of the same environment first, then the newest."""
        own = self.run
        others = [run for run in self.runs.runs if run.run_id != self._run_id]
        others.sort(key=lambda run: run.created_at, reverse=True)
        if own is not None:
            others.sort(key=lambda run: (run.env_id != own.env_id, run.algo != own.algo))
        return others

    def compare_with(self, run_id: str) -> None:
        """Compare configuration and packages with this run; an empty id ends the comparison."""
        if run_id == self._other_id:
            return
        self._other_id = run_id
        self.other = self.other_problem = None
        self._update_tables()
        self.other_changed.emit()
        if not run_id or not self._services.link.has_client:
            return
        home = self._services.link.home

        def answered(metadata: RunMetadata | None, problem: UserError | None) -> None:
            if run_id == self._other_id:
                self.other, self.other_problem = metadata, problem
                self._update_tables()
                self.other_changed.emit()

        self._services.call(
            self,
            lambda client: fetch_run_metadata(client, home, run_id),
            lambda metadata: answered(metadata, None),
            lambda error: answered(None, error),
        )

    # Actions.

    def why_not(self, action: RunAction) -> str:
        """The reason why this action is unavailable; empty if it is available."""
        run = self.run
        if run is None:
            return "No run is selected."
        if not self._services.link.is_ready and action in ("pause", "resume", "stop"):
            return "The daemon does not answer."
        if action == "duplicate" and self.selected.config is None:
            return "Its configuration is not known yet."
        if action == "compare":
            has_others = any(other is not run for other in self.runs.runs)
            return "" if has_others else "There is no other run to compare with."
        return run_actions.disabled_reason(action, run)

    def rename(self, name: str) -> None:
        run, name = self.run, name.strip()
        if run is not None and name != run.name and self._services.link.has_client:
            self.actions.rename(run.run_id, name)

    def set_note(self, text: str) -> None:
        if self.run is not None and self._services.link.has_client:
            self.actions.write_note(self._run_id, text)

    def set_tags(self, tags: Sequence[str]) -> None:
        """Replace all tags."""
        run = self.run
        if run is not None and self._services.link.has_client:
            requested = {tag.strip() for tag in tags} - {""}
            before = set(run.tags)
            self.actions.change_tags((run.run_id,), requested - before, before - requested)

    def export_checkpoint(self, row: CheckpointRow) -> None:
        """Copy it to the exports folder."""
        source, run = Path(self.checkpoint_path(row)), self.run
        title = run_text.title_of(run) if run else "run"
        step = f" step {row.step}" if row.step is not None else ""
        self._export(lambda folder: copy_to_folder(source, folder, f"{title}{step}"))

    def export_requirements(self) -> None:
        details = self.selected.details
        if details is not None and details.bundle is not None:
            text = run_reproduction.requirements_text(details.bundle)
            self._export(
                lambda folder: write_to_folder(text, folder, self._stem("requirements"), "txt")
            )

    def export_json(self) -> None:
        details, config = self.selected.details, self.selected.config
        if details is not None and config is not None:
            text = run_reproduction.as_json(details, config, self.selected.resolved)
            self._export(
                lambda folder: write_to_folder(text, folder, self._stem("reproduce"), "json")
            )

    # Closing.

    def close(self) -> None:
        """Does not wait."""
        self.log.close()
        self.usage.close()

    def join(self, timeout_s: float) -> bool:
        return self.log.join(timeout_s) and self.usage.join(timeout_s)

    # Updates.

    def _on_changed(self) -> None:
        if self.selected.run_id != self._run_id:
            self._run_id = self.selected.run_id
            self.overview = RunOverview()
            self._overview_fetched_at = float("-inf")
            self._state = None
            self.log.show("")
            self.usage.show("")
            if self._other_id == self._run_id:
                self.compare_with("")
            self._update_tables()
            self.set_current_tab(self._tab)
        run = self.run
        state = run.state if run else None
        if state is not self._state:
            if self._state is not None and run is not None and run.state.is_final:
                self.usage.refresh_machine()
            self._state = state
        elif (
            time.monotonic() - self._overview_fetched_at > _OVERVIEW_INTERVAL_S
            and run
            and not run.state.is_final
        ):
            self._fetch_overview()
        self.changed.emit()

    def _on_metadata_changed(self) -> None:
        self._update_tables()
        if self.selected.is_known:
            self._fetch_overview()
        self.changed.emit()

    def _fetch_overview(self) -> None:
        if self._is_fetching or not self._run_id or not self._services.link.has_client:
            return
        home, run_id = self._services.link.home, self._run_id
        manifest = self.selected.manifest
        self._is_fetching = True
        self._overview_fetched_at = time.monotonic()

        def answered(overview: RunOverview | None) -> None:
            self._is_fetching = False
            if run_id != self._run_id or manifest != self.selected.manifest:
                self._fetch_overview()
            if run_id == self._run_id and overview is not None:
                self.overview = overview
                self.checkpoints.show(overview.checkpoints)
                self.changed.emit()

        self._services.call(
            self,
            lambda client: fetch_run_overview(client, home, run_id, manifest),
            answered,
            lambda _: answered(None),
        )

    def _update_tables(self) -> None:
        """Show the metadata of both runs in the tables."""
        selected, other = self.selected, self.other
        source = (
            run_configuration.ConfigSource(selected.config, selected.resolved, selected.descriptor)
            if selected.config is not None
            else None
        )
        reference = (
            run_configuration.ConfigSource(other.config, other.resolved, other.descriptor)
            if other is not None
            else None
        )
        self.configuration.show(source, reference)
        bundle = selected.details.bundle if selected.details else None
        other_bundle = other.details.bundle if other else None
        self.packages.show(
            bundle.packages if bundle else {},
            (other_bundle.packages if other_bundle else {}) if other is not None else None,
        )
        self.checkpoints.show(self.overview.checkpoints)

    def _stem(self, suffix: str) -> str:
        run = self.run
        return f"{run_text.title_of(run) if run else 'run'} {suffix}"

    def _export(self, write: Callable[[Path], Path]) -> None:
        folder = self._services.link.home.exports

        def done(file: Path) -> None:
            self._services.notices.offer(
                f"Written to exports/{file.name}.",
                "Show",
                lambda: self.show_requested.emit(str(file.parent)),
                tone="good",
            )

        self._services.tasks.run(
            self, lambda: write(folder), done, self._services.notices.post_error
        )

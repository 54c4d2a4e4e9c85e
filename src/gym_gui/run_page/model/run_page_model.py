"""RunPageModel: one run in full, for its page: what is shown beside its papers, and what is done.

The papers come from `SelectedRun`. The log and the machine's use are read once they are looked at,
and then for as long as the run is shown.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.run_page.feed.run_facts import (
    RunFacts,
    RunMetadata,
    copy_out,
    fetch_facts,
    fetch_run_metadata,
    write_out,
)
from gym_gui.run_page.model import run_artifacts, run_configuration, run_reproduction
from gym_gui.run_page.model.configuration_table import ConfigurationTable
from gym_gui.run_page.model.packages_table import PackagesTable
from gym_gui.run_page.model.run_checkpoints_table import CheckpointRow, RunCheckpointsTable
from gym_gui.run_page.model.run_log_model import RunLogModel
from gym_gui.run_page.model.run_usage_model import RunUsageModel
from gym_gui.runtime.models import run_actions, run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

RunPart = Literal[
    "overview", "configuration", "log", "artifacts", "checkpoints", "system", "reproduce"
]
RunAction = Literal["pause", "resume", "stop", "replay", "duplicate", "compare"]
_FACTS_EVERY_S = 3.0
"""While a run goes on: its best episode changes with its figures."""


class RunPageModel(QObject):
    """Made once, when the page is first looked at."""

    changed = Signal()
    """State, figures, papers or facts."""
    other_changed = Signal()
    """The run that this one is compared with."""
    show_requested = Signal(str)
    """A file or folder that is to be shown by the desktop."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        shown: SelectedRun,
        runs: RunsModel,
        actions: RunActions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.shown = shown
        self.runs = runs
        self.actions = actions
        self.facts = RunFacts()
        self.other: RunMetadata | None = None
        self.other_problem: UserError | None = None
        self.log = RunLogModel(link, pulse, self)
        self.usage = RunUsageModel(link, tasks, pulse, self)
        self.configuration = ConfigurationTable(self)
        self.packages = PackagesTable(self)
        self.checkpoints = RunCheckpointsTable(self)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._run_id = ""
        self._part: RunPart = "overview"
        self._other_id = ""
        self._facts_at = float("-inf")
        self._is_asking = False
        self._state: RunState | None = None
        shown.changed.connect(self._on_changed)
        shown.papers_changed.connect(self._on_papers)
        link.connected.connect(self._on_papers)
        link.changed.connect(self.changed)
        self._on_changed()
        self._on_papers()

    @property
    def run(self) -> RunRecord | None:
        return self.shown.run

    @property
    def home(self) -> str:
        """The folder of everything, for commands."""
        return str(self._link.home.path)

    @property
    def is_known_now(self) -> bool:
        """The daemon answers: what is shown is how it is."""
        return self._link.is_ready

    # What is looked at.

    def look_at(self, part: RunPart) -> None:
        """This part is in front."""
        self._part = part
        if part == "log":
            self.log.show(self._run_id)
        elif part == "system":
            self.usage.show(self._run_id)

    @property
    def artifacts(self) -> list[run_artifacts.ArtifactRow]:
        return run_artifacts.rows_of(self.run, self.shown.config, self.shown.manifest, self.facts)

    def path_of(self, inside: str) -> str:
        """Where something of the run is on the disk; empty until that is known."""
        return str(self.shown.directory / inside) if self.shown.directory else ""

    def checkpoint_path(self, row: CheckpointRow) -> str:
        return str(self._link.home.path / row.checkpoint.path)

    # Reproducing.

    @property
    def train_command(self) -> str:
        """For a shell, on several lines where it is long; empty where there is none."""
        config = self.shown.config
        if config is None or self.is_by_hand:
            return ""
        command = run_reproduction.train_command(config, self.path_of("config.json"))
        return run_reproduction.in_lines(command)

    @property
    def is_by_hand(self) -> bool:
        """A person played it, so no command makes it again."""
        config = self.shown.config
        return config is not None and config.mode == "play" and config.actor == "human"

    @property
    def worker_command(self) -> str:
        details = self.shown.details
        return run_reproduction.in_lines(list(details.command)) if details else ""

    @property
    def environment(self) -> list[tuple[str, str]]:
        """What else the result depends on; names and values."""
        details, run = self.shown.details, self.run
        bundle = details.bundle if details else None
        rows = [("Seed", str(run.seed) if run else "")]
        if bundle is not None:
            extras = f" with {', '.join(bundle.extras)}" if bundle.extras else ""
            rows += [
                ("Python", bundle.python),
                ("Bundle", f"{bundle.name}{extras} · {bundle.hash}"),
                ("Worker's sources", bundle.code_hash),
            ]
        rows.append(("Git commit", run_reproduction.git_words(self.shown.resolved)))
        return [(name, value) for name, value in rows if value]

    # Comparing with another run.

    @property
    def other_id(self) -> str:
        return self._other_id

    @property
    def candidates(self) -> list[RunRecord]:
        """Runs to compare with: of the same environment first, then the newest."""
        mine = self.run
        others = [run for run in self.runs.runs if run.run_id != self._run_id]
        others.sort(key=lambda run: run.created_at, reverse=True)
        if mine is not None:
            others.sort(key=lambda run: (run.env_id != mine.env_id, run.algo != mine.algo))
        return others

    def compare_with(self, run_id: str) -> None:
        """Configuration and packages of this run beside; an empty id: of none."""
        if run_id == self._other_id:
            return
        self._other_id = run_id
        self.other = self.other_problem = None
        self._lay_out()
        self.other_changed.emit()
        if not run_id or not self._link.has_client:
            return
        client, home = self._link.client, self._link.home

        def answered(papers: RunMetadata | None, problem: UserError | None) -> None:
            if run_id == self._other_id:
                self.other, self.other_problem = papers, problem
                self._lay_out()
                self.other_changed.emit()

        self._tasks.run(
            self,
            lambda: fetch_run_metadata(client, home, run_id),
            lambda papers: answered(papers, None),
            lambda error: answered(None, error),
        )

    # What is done.

    def why_not(self, action: RunAction) -> str:
        """The reason why this cannot be done now; empty: it can."""
        run = self.run
        if run is None:
            return "No run is shown."
        if not self._link.is_ready and action in ("pause", "resume", "stop"):
            return "The daemon does not answer."
        if action == "duplicate" and self.shown.config is None:
            return "Its configuration is not known yet."
        if action == "compare":
            has_others = any(each is not run for each in self.runs.runs)
            return "" if has_others else "There is no other run to compare with."
        return run_actions.why_not(action, run)

    def rename(self, name: str) -> None:
        run, name = self.run, name.strip()
        if run is not None and name != run.name and self._link.has_client:
            self.actions.rename(run.run_id, name)

    def set_note(self, text: str) -> None:
        if self.run is not None and self._link.has_client:
            self.actions.write_note(self._run_id, text)

    def set_tags(self, tags: Sequence[str]) -> None:
        """These, and no others."""
        run = self.run
        if run is not None and self._link.has_client:
            wanted = {tag.strip() for tag in tags} - {""}
            before = set(run.tags)
            self.actions.change_tags((run.run_id,), wanted - before, before - wanted)

    def export_checkpoint(self, row: CheckpointRow) -> None:
        """A copy in the home's exports."""
        source, run = Path(self.checkpoint_path(row)), self.run
        title = run_text.title_of(run) if run else "run"
        step = f" step {row.step}" if row.step is not None else ""
        self._export(lambda folder: copy_out(source, folder, f"{title}{step}"))

    def export_requirements(self) -> None:
        details = self.shown.details
        if details is not None and details.bundle is not None:
            text = run_reproduction.requirements_text(details.bundle)
            self._export(lambda folder: write_out(text, folder, self._stem("requirements"), "txt"))

    def export_json(self) -> None:
        details, config = self.shown.details, self.shown.config
        if details is not None and config is not None:
            text = run_reproduction.as_json(details, config, self.shown.resolved)
            self._export(lambda folder: write_out(text, folder, self._stem("reproduce"), "json"))

    # Closing.

    def close(self) -> None:
        """Does not wait."""
        self.log.close()
        self.usage.close()

    def join(self, timeout_s: float) -> bool:
        return self.log.join(timeout_s) and self.usage.join(timeout_s)

    # What happens.

    def _on_changed(self) -> None:
        if self.shown.run_id != self._run_id:
            self._run_id = self.shown.run_id
            self.facts = RunFacts()
            self._facts_at = float("-inf")
            self._state = None
            self.log.show("")
            self.usage.show("")
            if self._other_id == self._run_id:
                self.compare_with("")
            self._lay_out()
            self.look_at(self._part)
        run = self.run
        state = run.state if run else None
        if state is not self._state:
            if self._state is not None and run is not None and run.state.is_final:
                self.usage.refresh_machine()
            self._state = state
        elif time.monotonic() - self._facts_at > _FACTS_EVERY_S and run and not run.state.is_final:
            self._fetch_facts()
        self.changed.emit()

    def _on_papers(self) -> None:
        self._lay_out()
        if self.shown.is_known:
            self._fetch_facts()
        self.changed.emit()

    def _fetch_facts(self) -> None:
        if self._is_asking or not self._run_id or not self._link.has_client:
            return
        client, home, run_id = self._link.client, self._link.home, self._run_id
        manifest = self.shown.manifest
        self._is_asking = True
        self._facts_at = time.monotonic()

        def answered(facts: RunFacts | None) -> None:
            self._is_asking = False
            if run_id != self._run_id or manifest != self.shown.manifest:
                self._fetch_facts()
            if run_id == self._run_id and facts is not None:
                self.facts = facts
                self.checkpoints.show(facts.checkpoints)
                self.changed.emit()

        self._tasks.run(
            self,
            lambda: fetch_facts(client, home, run_id, manifest),
            answered,
            lambda _: answered(None),
        )

    def _lay_out(self) -> None:
        """What the tables show follows from the papers of both runs."""
        shown, other = self.shown, self.other
        source = (
            run_configuration.ConfigSource(shown.config, shown.resolved, shown.descriptor)
            if shown.config is not None
            else None
        )
        beside = (
            run_configuration.ConfigSource(other.config, other.resolved, other.descriptor)
            if other is not None
            else None
        )
        self.configuration.show(source, beside)
        bundle = shown.details.bundle if shown.details else None
        there = other.details.bundle if other else None
        self.packages.show(
            bundle.packages if bundle else {},
            (there.packages if there else {}) if other is not None else None,
        )
        self.checkpoints.show(self.facts.checkpoints)

    def _stem(self, what: str) -> str:
        run = self.run
        return f"{run_text.title_of(run) if run else 'run'} {what}"

    def _export(self, write: Callable[[Path], Path]) -> None:
        folder = self._link.home.path / "exports"

        def done(file: Path) -> None:
            self._notices.offer(
                f"Written to exports/{file.name}.",
                "Show",
                lambda: self.show_requested.emit(str(file.parent)),
                tone="good",
            )

        self._tasks.run(self, lambda: write(folder), done, self._notices.fail)

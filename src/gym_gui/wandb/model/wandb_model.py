"""WandbModel: what Weights & Biases knows of the shown run, on this disk and on its server.

The files are looked at while the page is in sight; W&B itself is not needed for any of it.
"""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.file_poller import FilePoller
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.wandb.feed.wandb_connection import (
    ConnectionReport,
    probe,
    proxy_address,
    server_address,
    without_password,
)
from gym_gui.wandb.feed.wandb_runs import LocalRun, WandbPlaces, watch_wandb
from gym_gui.wandb.model.wandb_values import WandbValues
from mosaic.contract.daemon_settings import SecretInfo
from mosaic.contract.run_states import FINAL_STATES

KEY = "WANDB_API_KEY"
HOW_TO_TRACK = "Enable --track and login to use W&B"
Phase = Literal["none", "loading", "off", "waiting", "nothing", "ready"]


class WandbModel(QObject):
    """`changed` fires at most once a beat."""

    changed = Signal()

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        shown: SelectedRun,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.summary = WandbValues(("key", "last value"), self)
        self.config = WandbValues(("setting", "value"), self)
        self.key_is_set: bool | None = None
        """None: the daemon has not said so."""
        self.report: ConnectionReport | None = None
        self.is_testing = False
        self._link = link
        self._tasks = tasks
        self._pulse = pulse
        self._notices = notices
        self._shown = shown
        self._is_in_sight = False
        self._is_new = True
        self._runs: tuple[LocalRun, ...] | None = None
        """None: nobody has looked yet."""
        self._chosen = ""
        self._watch = FilePoller("wandb files", watch_wandb, pulse.wake)
        self._places: WandbPlaces | None = None
        self._watched: WandbPlaces | None = None
        self._told: tuple[str, Phase, bool] | None = None
        shown.changed.connect(self._on_run)
        shown.papers_changed.connect(self._on_papers)
        link.connected.connect(self.refresh_key)
        pulse.subscribe(self, self._on_beat)
        self._on_run()

    # What the page shows.

    @property
    def phase(self) -> Phase:
        if not self._shown.run_id:
            return "none"
        if self.url or self._runs:
            return "ready"
        if not self._shown.is_known or (self._runs is None and self._is_in_sight):
            return "loading" if self._shown.problem is None else "nothing"
        if not self.tracks:
            return "off"
        return "nothing" if self.is_over else "waiting"

    @property
    def tracks(self) -> bool:
        """The run was asked to."""
        config, resolved = self._shown.config, self._shown.resolved or {}
        if config is None:
            return False
        wandb = config.artifacts.wandb
        given = config.params.get("track", resolved.get("track"))
        return wandb.mode != "disabled" and (wandb.enabled or given is True)

    @property
    def is_over(self) -> bool:
        run = self._shown.run
        return run is not None and run.state in FINAL_STATES

    @property
    def url(self) -> str:
        return self._shown.manifest.wandb_url or ""

    @property
    def runs(self) -> tuple[LocalRun, ...]:
        """On this disk, newest first."""
        return self._runs or ()

    @property
    def run(self) -> LocalRun | None:
        """The one that was chosen, or the newest."""
        chosen = (each for each in self.runs if each.folder.path.name == self._chosen)
        return next(chosen, self.runs[0] if self.runs else None)

    @property
    def project(self) -> str:
        run, config = self.run, self._shown.config
        told = run.contents.project if run else ""
        return told or (config.artifacts.wandb.project if config and self.tracks else "")

    @property
    def entity(self) -> str:
        run, config = self.run, self._shown.config
        told = run.contents.entity if run else ""
        return told or (config.artifacts.wandb.entity or "" if config else "")

    @property
    def folder(self) -> Path | None:
        return self.run.folder.path if self.run else None

    @property
    def proxy(self) -> str:
        """As it may be shown; empty: none."""
        return without_password(proxy_address(self._configured_proxy))

    @property
    def server(self) -> str:
        return server_address()

    @property
    def _configured_proxy(self) -> str:
        config = self._shown.config
        return config.artifacts.wandb.proxy or "" if config else ""

    # What a person does.

    def choose(self, folder_name: str) -> None:
        """Which of the runs on this disk."""
        if folder_name != self._chosen:
            self._chosen = folder_name
            self._show_values()
            self.changed.emit()

    def test_connection(self) -> None:
        if self.is_testing:
            return
        self.is_testing, self.report = True, None
        self.changed.emit()
        server, proxy = server_address(), proxy_address(self._configured_proxy)
        self._tasks.run(self, lambda: probe(server, proxy), self._take_report)

    def set_in_sight(self, is_in_sight: bool) -> None:
        """Files are looked at while somebody sees the page."""
        if is_in_sight != self._is_in_sight:
            self._is_in_sight = is_in_sight
            self._look()
            if is_in_sight:
                self.refresh_key()
            self._is_new = True
            self._pulse.wake()

    def refresh_key(self) -> None:
        """Whether there is a key; never the key itself."""
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, client.secrets, self._take_secrets, lambda _: None)

    def close(self) -> None:
        self._watch.close()

    def join(self, timeout_s: float) -> bool:
        return self._watch.join(timeout_s)

    # How it comes about.

    def _on_papers(self) -> None:
        """Sooner than the next look: the daemon may have found something."""
        self._on_run()
        self._watch.look_now()
        self._is_new = True
        self._pulse.wake()

    def _on_run(self) -> None:
        places = self._places_now()
        if places != self._places:
            before = self._places
            self._places = places
            if places is None or before is None or places.folders != before.folders:
                self._runs, self._chosen, self.report = None, "", None
                self._watch.begin_again()
                self._show_values()
        self._look()
        told = (self._shown.run_id, self.phase, self.is_over)
        if told != self._told:  # and not with every figure of a run that goes on
            self._told = told
            self._is_new = True
            self._pulse.wake()

    def _places_now(self) -> WandbPlaces | None:
        directory = self._shown.directory
        if directory is None:
            return None
        offline = self._shown.manifest.wandb_offline_dirs
        # Where W&B puts its runs, and those that lie elsewhere.
        elsewhere = {(directory / each).parent for each in offline} - {directory / "wandb"}
        details = self._shown.details
        bundle = details.bundle.path if details and details.bundle else ""
        return WandbPlaces(
            folders=(directory / "wandb", *sorted(elsewhere)),
            python=self._link.home.path / bundle / "bin" / "python" if bundle else None,
            proxy=self._configured_proxy,
        )

    def _look(self) -> None:
        """Also when the run is over: it may be uploaded any time."""
        wanted = self._places if self._is_in_sight else None
        if wanted != self._watched:
            self._watched = wanted
            self._watch.watch(wanted)

    def _on_beat(self) -> bool:
        for news in self._watch.take():
            if news.target != self._places:
                continue
            if news.error is not None:
                self._notices.fail(news.error)
            if news.found is not None:
                self._runs = news.found
            elif self._runs is None:
                self._runs = ()
            self._show_values()
            self._is_new = True
        if not self._is_new:
            return False
        self._is_new = False
        self.changed.emit()
        return True

    def _show_values(self) -> None:
        run = self.run
        self.summary.show(run.contents.summary if run else {})
        self.config.show(run.contents.config if run else {})

    def _take_report(self, report: ConnectionReport) -> None:
        self.is_testing, self.report = False, report
        if not self._is_in_sight:
            self._notices.say(f"{report.summary}.", tone="good" if report.is_reached else "bad")
        self.changed.emit()

    def _take_secrets(self, told: tuple[SecretInfo, ...]) -> None:
        self.key_is_set = any(each.name == KEY and each.is_set for each in told)
        self.changed.emit()

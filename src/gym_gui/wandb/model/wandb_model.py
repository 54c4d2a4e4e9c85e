"""WandbModel: the W&B runs of the selected run, on this disk and on the server.

The files are polled while the page is visible; W&B itself is not required.
"""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.file_poller import FilePoller
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.wandb.feed.wandb_connection import (
    ConnectionReport,
    probe,
    proxy_address,
    server_address,
    without_password,
)
from gym_gui.wandb.feed.wandb_runs import LocalRun, WandbLocation, watch_wandb
from gym_gui.wandb.model.wandb_values import WandbValues
from mosaic.contract.run_states import FINAL_STATES
from mosaic.contract.settings_view import SecretInfo

KEY = "WANDB_API_KEY"
HOW_TO_TRACK = "Enable --track and login to use W&B"
Phase = Literal["none", "loading", "off", "waiting", "nothing", "ready"]


class WandbModel(QObject):
    """`changed` fires at most once per tick."""

    changed = Signal()

    def __init__(
        self, services: Services, selected: SelectedRun, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.summary = WandbValues(("key", "last value"), self)
        self.config = WandbValues(("setting", "value"), self)
        self.key_is_set: bool | None = None
        """None until the daemon reports it."""
        self.report: ConnectionReport | None = None
        self.is_testing = False
        self._services = services
        self._selected = selected
        self._is_visible = False
        self._is_dirty = True
        self._runs: tuple[LocalRun, ...] | None = None
        """None before the first poll."""
        self._selected_folder = ""
        self._watch = FilePoller("wandb files", watch_wandb, services.ticker.wake)
        self._location: WandbLocation | None = None
        self._watched: WandbLocation | None = None
        self._published: tuple[str, Phase, bool] | None = None
        selected.changed.connect(self._on_run)
        selected.metadata_changed.connect(self._on_metadata_changed)
        services.link.connected.connect(self.refresh_key)
        services.ticker.subscribe(self, self._on_tick)
        self._on_run()

    # State.

    @property
    def phase(self) -> Phase:
        if not self._selected.run_id:
            return "none"
        if self.url or self._runs:
            return "ready"
        if not self._selected.is_known or (self._runs is None and self._is_visible):
            return "loading" if self._selected.problem is None else "nothing"
        if not self.tracks:
            return "off"
        return "nothing" if self.is_finished else "waiting"

    @property
    def tracks(self) -> bool:
        """Whether tracking was requested for the run."""
        config, resolved = self._selected.config, self._selected.resolved or {}
        if config is None:
            return False
        wandb = config.artifacts.wandb
        given = config.params.get("track", resolved.get("track"))
        return wandb.mode != "disabled" and (wandb.enabled or given is True)

    @property
    def is_finished(self) -> bool:
        run = self._selected.run
        return run is not None and run.state in FINAL_STATES

    @property
    def url(self) -> str:
        return self._selected.manifest.wandb_url or ""

    @property
    def runs(self) -> tuple[LocalRun, ...]:
        """On this disk, newest first."""
        return self._runs or ()

    @property
    def run(self) -> LocalRun | None:
        """The selected one, or the newest."""
        selected = (run for run in self.runs if run.folder.path.name == self._selected_folder)
        return next(selected, self.runs[0] if self.runs else None)

    @property
    def project(self) -> str:
        run, config = self.run, self._selected.config
        project = run.contents.project if run else ""
        return project or (config.artifacts.wandb.project if config and self.tracks else "")

    @property
    def entity(self) -> str:
        run, config = self.run, self._selected.config
        entity = run.contents.entity if run else ""
        return entity or (config.artifacts.wandb.entity or "" if config else "")

    @property
    def folder(self) -> Path | None:
        return self.run.folder.path if self.run else None

    @property
    def proxy(self) -> str:
        """Without credentials; empty if there is none."""
        return without_password(proxy_address(self._configured_proxy))

    @property
    def server(self) -> str:
        return server_address()

    @property
    def _configured_proxy(self) -> str:
        config = self._selected.config
        return config.artifacts.wandb.proxy or "" if config else ""

    # Actions.

    def select_run(self, folder_name: str) -> None:
        """Select one of the runs on this disk."""
        if folder_name != self._selected_folder:
            self._selected_folder = folder_name
            self._show_values()
            self.changed.emit()

    def test_connection(self) -> None:
        if self.is_testing:
            return
        self.is_testing, self.report = True, None
        self.changed.emit()
        server, proxy = server_address(), proxy_address(self._configured_proxy)
        self._services.tasks.run(self, lambda: probe(server, proxy), self._on_report)

    def set_page_visible(self, is_visible: bool) -> None:
        """Files are polled only while the page is visible."""
        if is_visible != self._is_visible:
            self._is_visible = is_visible
            self._update_watch()
            if is_visible:
                self.refresh_key()
            self._is_dirty = True
            self._services.ticker.wake()

    def refresh_key(self) -> None:
        """Whether a key is set; never the key itself."""
        if self._services.link.has_client:
            client = self._services.link.client
            self._services.tasks.run(self, client.secrets, self._on_secrets, lambda _: None)

    def close(self) -> None:
        self._watch.close()

    def join(self, timeout_s: float) -> bool:
        return self._watch.join(timeout_s)

    # Updates.

    def _on_metadata_changed(self) -> None:
        """Poll now: the daemon may have found new artifacts."""
        self._on_run()
        self._watch.poll_now()
        self._is_dirty = True
        self._services.ticker.wake()

    def _on_run(self) -> None:
        location = self._current_location()
        if location != self._location:
            before = self._location
            self._location = location
            if location is None or before is None or location.folders != before.folders:
                self._runs, self._selected_folder, self.report = None, "", None
                self._watch.restart()
                self._show_values()
        self._update_watch()
        state = (self._selected.run_id, self.phase, self.is_finished)
        if state != self._published:  # not for every metric of an active run
            self._published = state
            self._is_dirty = True
            self._services.ticker.wake()

    def _current_location(self) -> WandbLocation | None:
        directory = self._selected.directory
        if directory is None:
            return None
        offline = self._selected.manifest.wandb_offline_dirs
        # The default folder of W&B, and other folders in the manifest.
        elsewhere = {(directory / path).parent for path in offline} - {directory / "wandb"}
        details = self._selected.details
        bundle = details.bundle.path if details and details.bundle else ""
        return WandbLocation(
            folders=(directory / "wandb", *sorted(elsewhere)),
            python=self._services.link.home.path / bundle / "bin" / "python" if bundle else None,
            proxy=self._configured_proxy,
        )

    def _update_watch(self) -> None:
        """Also for a finished run: it may be uploaded at any time."""
        requested = self._location if self._is_visible else None
        if requested != self._watched:
            self._watched = requested
            self._watch.watch(requested)

    def _on_tick(self) -> bool:
        for update in self._watch.drain():
            if update.target != self._location:
                continue
            if update.error is not None:
                self._services.notices.post_error(update.error)
            if update.value is not None:
                self._runs = update.value
            elif self._runs is None:
                self._runs = ()
            self._show_values()
            self._is_dirty = True
        if not self._is_dirty:
            return False
        self._is_dirty = False
        self.changed.emit()
        return True

    def _show_values(self) -> None:
        run = self.run
        self.summary.show(run.contents.summary if run else {})
        self.config.show(run.contents.config if run else {})

    def _on_report(self, report: ConnectionReport) -> None:
        self.is_testing, self.report = False, report
        if not self._is_visible:
            self._services.notices.post(
                f"{report.summary}.", tone="good" if report.is_reached else "bad"
            )
        self.changed.emit()

    def _on_secrets(self, secrets: tuple[SecretInfo, ...]) -> None:
        self.key_is_set = any(secret.name == KEY and secret.is_set for secret in secrets)
        self.changed.emit()

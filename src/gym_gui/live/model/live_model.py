"""LiveModel: the newest step, frame, scene and episode of a run, updated once per tick.

Shown by the Live tab; `show` selects the run. For a worker that reports metrics only, the model
has an explanation and the available actions.
"""

import threading
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.live.feed.live_feed import Frame, LiveFeed
from gym_gui.live.model.episodes_table import EpisodesTable
from gym_gui.live.model.live_agents import LiveAgents
from gym_gui.live.model.steps_table import StepsTable
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.cell_policy import CellPolicy, cell_policy
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_metadata import RunMetadata, fetch_run_metadata, restart_with_telemetry
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, StepRecord
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.envs.catalog import environment
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene, Scene

_NEWEST_EPISODES = 8
_IMPORTED_CODE = (
    "The run was imported and names code, so it cannot be restarted here:"
    ' "Duplicate as new draft" shows that code first.'
)
"""Newest episodes in which to find one of the selected agent."""


class LiveModel(QObject):
    """Created once, by `Models`."""

    changed = Signal()
    """The run, its statistics, its step or the available actions; at most once per tick."""
    frame_changed = Signal()
    """`frame` or `scene` changed; at most once per tick."""
    replay_requested = Signal(str)
    log_requested = Signal(str)
    tab_requested = Signal(str)
    """Another tab of the same run: `tensorboard` or `wandb`."""

    def __init__(self, services: Services, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.step: StepRecord | None = None
        self.frame: Frame | None = None
        self.agents = LiveAgents()
        self.scene: Scene | None = None
        self.policy = CellPolicy()
        """What the agent of the step has learnt about the cells of a grid scene."""
        self.newest_episode: EpisodeRollup | None = None
        self.pinned_episode: int | None = None
        """The episode whose steps are shown; None: the newest."""
        self.episodes = EpisodesTable(services, runs, self)
        self.steps = StepsTable(services, runs, self)
        self._services = services
        self._runs = runs
        self._metadata: RunMetadata | None = None
        self.environment: EnvironmentEvent | None = None
        self._feed: LiveFeed | None = None
        self._closed_feeds: list[LiveFeed] = []
        self._is_fetching_episode = False
        self._is_changed = self._needs_newest_episode = False
        self._is_visible = True
        self._is_restarting = False
        self._was_ready = services.link.is_ready
        runs.run_changed.connect(self._on_run_changed)
        services.link.connected.connect(self._start_feed)
        services.link.recovered.connect(self._on_recovered)
        services.link.changed.connect(self._on_link_changed)
        services.ticker.subscribe(self, self._on_tick)

    # State.

    def show(self, run_id: str) -> None:
        """Show a run; an empty id shows none."""
        if run_id == self.run_id:
            return
        self._close_feed()
        self.run_id = run_id
        self.step = self.frame = self.newest_episode = None
        self.scene = self.pinned_episode = self._metadata = self.environment = None
        self.agents, self.policy = LiveAgents(), CellPolicy()
        self.episodes.show(run_id)
        self.steps.show("", None)
        self._start_feed()
        self.changed.emit()
        self.frame_changed.emit()

    def select_agent(self, agent: str) -> None:
        """Show the steps, episodes and policy of this agent."""
        if self.agents.select(agent):
            self.step = self.newest_episode = self.scene = None
            self._mark_changed()
            self.frame_changed.emit()

    def pin_episode(self, episode: int | None) -> None:
        """Show the steps of this episode; None: of the newest."""
        self.pinned_episode = episode
        self._show_steps()
        self.changed.emit()

    def set_visible(self, is_visible: bool) -> None:
        """Set whether the tab is visible. Frames are read and scenes built only while it is."""
        self._is_visible = is_visible
        if is_visible:
            self._update_scene()
            self._mark_changed()

    @property
    def run(self) -> RunRecord | None:
        return self._runs.by_id(self.run_id)

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """The keyword arguments of the environment."""
        return self._metadata.config.env_kwargs if self._metadata else {}

    @property
    def episode_of_step(self) -> int | None:
        """The number of the episode of `step`, if it is known."""
        newest, step = self.newest_episode, self.step
        return newest.episode if newest and step and newest.episode_id == step.episode_id else None

    @property
    def is_up_to_date(self) -> bool:
        """The daemon answers or the run is finished. Otherwise state and statistics may be old."""
        run = self.run
        return self._services.link.is_ready or (run is not None and run.state.is_final)

    @property
    def placeholder_text(self) -> tuple[str, str]:
        """Title and text shown while there is neither a frame nor a scene."""
        run = self.run
        state = run.state if run is not None else None
        if state is RunState.QUEUED:
            return "Waiting in the queue", "Starts as soon as enough resources are free."
        if run is not None and state is RunState.PREPARING:
            return "Preparing its packages", run_text.installation_text(run)
        if self.is_metrics_only:
            return "This worker reports metrics only.", ""
        if state is not None and state.is_final:
            return (
                "This run is finished",
                "Its episodes can be replayed." if self.can_replay else "",
            )
        return "Waiting for the first step", ""

    @property
    def is_metrics_only(self) -> bool:
        """The worker reports no steps."""
        run = self.run
        has_steps = run is not None and run.digest.steps > 0
        return self._metadata is not None and self._metadata.reports_no_steps and not has_steps

    @property
    def metrics_only_text(self) -> str:
        """Why there are no steps."""
        label = self._metadata.label if self._metadata else ""
        if label.endswith(" Worker"):  # a title; lower case within a sentence
            label = label.removesuffix(" Worker") + " worker"
        text = f"{label} streams metrics via TensorBoard/W&B; live telemetry not available."
        if self._metadata and self._metadata.names_imported_code:
            text += f" {_IMPORTED_CODE}"
        return text

    @property
    def has_tensorboard(self) -> bool:
        return self._metadata is not None and self._metadata.has_tensorboard

    @property
    def has_wandb(self) -> bool:
        return self._metadata is not None and self._metadata.has_wandb

    @property
    def has_episodes(self) -> bool:
        run = self.run
        return run is not None and run.digest.episodes > 0

    @property
    def can_replay(self) -> bool:
        run = self.run
        return run is not None and run.digest.episodes > 0 and run.digest.steps > 0

    @property
    def can_restart(self) -> bool:
        """The same run can be started again with live telemetry."""
        metadata = self._metadata
        return metadata is not None and metadata.can_record_steps and not self._is_restarting

    # Actions.

    def open_tensorboard(self) -> None:
        self.tab_requested.emit("tensorboard")

    def open_wandb(self) -> None:
        self.tab_requested.emit("wandb")

    def show_log(self) -> None:
        self.log_requested.emit(self.run_id)

    def replay(self) -> None:
        self.replay_requested.emit(self.run_id)

    @property
    def uses_minimal_telemetry(self) -> bool:
        """The next run of this worker starts with minimal telemetry."""
        return self._services.settings.flag(self._key(), False)

    def set_minimal_telemetry(self, is_used: bool) -> None:
        self._services.settings.set(self._key(), is_used)
        self.changed.emit()

    def restart(self) -> None:
        """Start the same run again with live telemetry."""
        metadata = self._metadata
        if metadata is None or not self.can_restart:
            return
        self._is_restarting = True
        self._services.call(
            self,
            lambda client: restart_with_telemetry(client, metadata.config),
            self._on_restarted,
            self._on_restart_failed,
        )
        self.changed.emit()

    # Closing.

    def close(self) -> None:
        self._close_feed()
        self.episodes.close()
        self.steps.close()

    def join(self, timeout_s: float) -> bool:
        threads = self.threads
        for thread in threads:
            thread.join(timeout_s)
        tables = (self.episodes.join(timeout_s), self.steps.join(timeout_s))
        return all(tables) and not any(thread.is_alive() for thread in threads)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        feeds = [*self._closed_feeds, *([self._feed] if self._feed else [])]
        return tuple(thread for feed in feeds for thread in feed.threads)

    # Updates.

    def _start_feed(self) -> None:
        if not self.run_id or not self._services.link.has_client or self._feed is not None:
            return
        client, home, run_id = self._services.link.client, self._services.link.home, self.run_id
        self._feed = LiveFeed(client, home, run_id, self._services.ticker.wake)
        self._fetch_metadata()
        self._mark_changed()

    def _fetch_metadata(self) -> None:
        home, run_id = self._services.link.home, self.run_id

        def on_fetched(metadata: RunMetadata) -> None:
            if run_id == self.run_id:
                self._metadata = metadata
                self.changed.emit()

        def on_failed(error: UserError) -> None:
            # Without a daemon the status line says so, and reconnecting fetches again.
            if run_id == self.run_id and self._services.link.is_ready:
                self._services.notices.post_error(error)

        self._services.call(
            self, lambda client: fetch_run_metadata(client, home, run_id), on_fetched, on_failed
        )

    def _on_link_changed(self) -> None:
        if self._services.link.is_ready != self._was_ready:
            self._was_ready = self._services.link.is_ready
            self.changed.emit()

    def _on_recovered(self) -> None:
        if self.run_id and self._metadata is None:
            self._fetch_metadata()
        self._mark_changed()

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self.run_id:
            run = self.run
            # The artifacts of a run are complete once it is finished.
            if run is not None and run.state.is_final and self._metadata is not None:
                self._fetch_metadata()
            self._mark_changed()

    def _mark_changed(self) -> None:
        self._is_changed = self._needs_newest_episode = True
        self._services.ticker.wake()

    def _on_tick(self) -> bool:
        feed = self._feed
        if feed is None:
            return False
        self.environment = feed.newest_environment() or self.environment
        self.agents.add_policies(feed.newest_policies())
        names, is_finished = self.agents.names, self.step is None and not self.episodes.is_live
        step = self.agents.newest_step(feed, is_finished=is_finished)
        self._is_changed |= names != self.agents.names
        frame = feed.newest_frame() if self._is_visible else None
        self.step, self.frame = step or self.step, frame or self.frame
        if step is not None and self._is_visible:
            self._update_scene()
        if (step is not None or frame is not None) and self._is_visible:
            self.frame_changed.emit()
        if self._needs_newest_episode and not self._is_fetching_episode:
            self._needs_newest_episode = False
            self._fetch_newest_episode()
        if (step is not None and self._is_visible) or self._is_changed:
            self._is_changed = False
            self.changed.emit()
            return True
        return frame is not None

    def _update_scene(self) -> None:
        run, step, made = self.run, self.step, self.environment
        if step is None or run is None:
            return
        self.scene = scene_for(
            run.env_id,
            made.env_kwargs if made else None,
            step.obs,
            step.render,
            action=step.action,
            is_finished=step.terminated or step.truncated,
        )
        self.policy = CellPolicy()
        if isinstance(self.scene, GridScene):
            policy, keys = self.agents.policy_of(step), environment(run.env_id).keys
            self.policy = cell_policy(policy, self.scene, step.obs, keys)

    def _fetch_newest_episode(self) -> None:
        self._is_fetching_episode = True
        run_id = self.run_id

        def on_fetched(page: EpisodePage) -> None:
            self._is_fetching_episode = False
            self._services.ticker.wake()  # the run may have changed during the request
            if run_id == self.run_id and page.episodes:
                self.newest_episode = self.agents.newest_episode(page.episodes)
                self._show_steps()
                self.changed.emit()

        def on_failed(_: UserError) -> None:
            self._is_fetching_episode = False  # fetched again after the next change
            self._services.ticker.wake()

        self._services.call(
            self,
            lambda client: client.episodes_page(run_id, count=_NEWEST_EPISODES, descending=True),
            on_fetched,
            on_failed,
        )

    def _show_steps(self) -> None:
        newest, episode = self.newest_episode, self.pinned_episode
        if episode is None and newest is not None:
            if self.steps.run_id and self.steps.is_loading:
                return  # otherwise short episodes would replace each other before they load
            if not newest.steps and self.steps.rowCount():
                return  # keep the previous steps until the new episode has some
            episode = newest.episode
        self.steps.show(self.run_id, episode)

    def _on_restarted(self, run_id: str) -> None:
        self._is_restarting = False
        self._services.notices.offer(
            f"Restarted with live telemetry as {run_text.short_id(run_id)}.",
            "Watch",
            lambda: self.show(run_id),
            tone="good",
        )
        self.changed.emit()

    def _on_restart_failed(self, error: UserError) -> None:
        self._is_restarting = False
        self._services.notices.post_error(error)
        self.changed.emit()

    def _key(self) -> str:
        worker = self._metadata.config.worker if self._metadata else ""
        return f"{MINIMAL_TELEMETRY_KEY}/{worker}"

    def _close_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._closed_feeds = [
                feed
                for feed in self._closed_feeds
                if any(thread.is_alive() for thread in feed.threads)
            ]
            self._closed_feeds.append(self._feed)
            self._feed = None

"""LiveModel: what a running run does now, at display rate, and what can be done where it is silent.

Shown by the Live tab. The run is chosen with `show`; that of a worker that tells nothing of its
steps has `is_silent`, a sentence that says so, and the ways out.
"""

import threading
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal

from gym_gui.live.feed.live_feed import Frame, LiveFeed
from gym_gui.live.model import live_text
from gym_gui.live.model.episodes_table import EpisodesTable
from gym_gui.live.model.live_agents import LiveAgents
from gym_gui.live.model.live_scene import LiveScene
from gym_gui.live.model.steps_table import StepsTable
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.cell_policy import CellPolicy
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.run_metadata import RunMetadata, fetch_run_metadata, restart_with_telemetry
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, StepRecord
from mosaic.contract.runs import RunRecord
from mosaic.envs.scenes.scene import Scene

_NEWEST_EPISODES = 8
"""Among which each of several agents is likely to have one."""


class Remembered(Protocol):
    """What the window remembers from one start to the next."""

    def flag(self, key: str, default: bool) -> bool: ...
    def set(self, key: str, value: bool) -> None: ...


class LiveModel(QObject):
    """Made once, by the wiring."""

    changed = Signal()
    """The run, its figures, its step or what is possible; at most once per tick."""
    frame_changed = Signal()
    """`frame` or `scene` is new; at most once per tick."""
    replay_requested = Signal(str)
    log_requested = Signal(str)
    tab_requested = Signal(str)
    """Another tab about the same run: `tensorboard` or `wandb`."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        runs: RunsModel,
        settings: Remembered,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.step: StepRecord | None = None
        self.frame: Frame | None = None
        self.agents = LiveAgents()
        self._drawn = LiveScene()
        self.newest_episode: EpisodeRollup | None = None
        self.pinned_episode: int | None = None
        """Whose steps are shown; None: those of the newest."""
        self.episodes = EpisodesTable(link, tasks, ticker, notices, runs, self)
        self.steps = StepsTable(link, tasks, ticker, notices, runs, self)
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._notices = notices
        self._runs = runs
        self._settings = settings
        self._papers: RunMetadata | None = None
        self.environment: EnvironmentEvent | None = None
        self._feed: LiveFeed | None = None
        self._past: list[LiveFeed] = []
        self._is_asking = False
        self._has_news = self._wants_newest = False
        self._is_watched = True
        self._is_starting_again = False
        self._was_ready = link.is_ready
        runs.run_changed.connect(self._on_run_changed)
        link.connected.connect(self._begin)
        link.recovered.connect(self._on_recovered)
        link.changed.connect(self._on_link_changed)
        ticker.subscribe(self, self._on_tick)

    # What is shown.

    def show(self, run_id: str) -> None:
        """This run from now on; without an id, none."""
        if run_id == self.run_id:
            return
        self._end_feed()
        self.run_id = run_id
        self.step = self.frame = self.newest_episode = None
        self.pinned_episode = self._papers = self.environment = None
        self.agents, self._drawn = LiveAgents(), LiveScene()
        self.episodes.show(run_id)
        self.steps.show("", None)
        self._begin()
        self.changed.emit()
        self.frame_changed.emit()

    def choose_agent(self, agent: str) -> None:
        """Show what this one does, where several learn side by side."""
        if self.agents.choose(agent):
            self.step = self.newest_episode = None
            self._drawn.scene = None
            self._note_news()
            self.frame_changed.emit()

    def pin_episode(self, episode: int | None) -> None:
        """Show the steps of this one; of the newest again with None."""
        self.pinned_episode = episode
        self._choose_steps()
        self.changed.emit()

    def set_watched(self, is_watched: bool) -> None:
        """Pictures are read and scenes drawn only while somebody looks."""
        self._is_watched = is_watched
        if is_watched:
            self._draw_scene()
            self._note_news()

    @property
    def scene(self) -> Scene | None:
        return self._drawn.scene

    @property
    def policy(self) -> CellPolicy:
        return self._drawn.policy

    @property
    def run(self) -> RunRecord | None:
        return self._runs.by_id(self.run_id)

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """What the environment of the run is made with."""
        return self._papers.config.env_kwargs if self._papers else {}

    @property
    def episode_of_step(self) -> int | None:
        """The number of the episode that `step` is of, where it is known."""
        newest, step = self.newest_episode, self.step
        return newest.episode if newest and step and newest.episode_id == step.episode_id else None

    @property
    def is_known_now(self) -> bool:
        """Whether the run's state and figures are those of now: the daemon answers, or it is over.

        Otherwise they are the last ones that were told.
        """
        run = self.run
        return self._link.is_ready or (run is not None and run.state.is_final)

    @property
    def waiting_words(self) -> tuple[str, str]:
        """What stands where there is no picture yet, and what comes next."""
        return live_text.waiting(self.run, is_silent=self.is_silent, can_replay=self.can_replay)

    @property
    def is_silent(self) -> bool:
        run = self.run
        told = run is not None and run.digest.steps > 0
        return self._papers is not None and self._papers.is_silent and not told

    @property
    def silence(self) -> str:
        """Why there is nothing to see."""
        return live_text.silence(self._papers.label if self._papers else "")

    @property
    def has_tensorboard(self) -> bool:
        return self._papers is not None and self._papers.has_tensorboard

    @property
    def has_wandb(self) -> bool:
        return self._papers is not None and self._papers.has_wandb

    @property
    def has_episodes(self) -> bool:
        run = self.run
        return run is not None and run.digest.episodes > 0

    @property
    def can_replay(self) -> bool:
        run = self.run
        return run is not None and run.digest.episodes > 0 and run.digest.steps > 0

    @property
    def can_start_again(self) -> bool:
        """The same run could be started with live telemetry."""
        return (
            self._papers is not None
            and self._papers.can_record_steps
            and not self._is_starting_again
        )

    # What is done.

    def open_tensorboard(self) -> None:
        self.tab_requested.emit("tensorboard")

    def open_wandb(self) -> None:
        self.tab_requested.emit("wandb")

    def show_log(self) -> None:
        self.log_requested.emit(self.run_id)

    def replay(self) -> None:
        self.replay_requested.emit(self.run_id)

    @property
    def tells_next_time(self) -> bool:
        """The next run of this worker is started with minimal telemetry."""
        return self._settings.flag(self._key(), False)

    def tell_next_time(self, does: bool) -> None:
        self._settings.set(self._key(), does)
        self.changed.emit()

    def start_again(self) -> None:
        """The same run once more, this time with live telemetry."""
        papers = self._papers
        if papers is None or not self.can_start_again:
            return
        self._is_starting_again = True
        client = self._link.client
        self._tasks.run(
            self,
            lambda: restart_with_telemetry(client, papers.config),
            self._on_started_again,
            self._on_not_started,
        )
        self.changed.emit()

    # Its end.

    def close(self) -> None:
        self._end_feed()
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
        feeds = [*self._past, *([self._feed] if self._feed else [])]
        return tuple(thread for feed in feeds for thread in feed.threads)

    # What happens.

    def _begin(self) -> None:
        if not self.run_id or not self._link.has_client or self._feed is not None:
            return
        client, home, run_id = self._link.client, self._link.home, self.run_id
        self._feed = LiveFeed(client, home, run_id, self._ticker.wake)
        self._ask_for_papers()
        self._note_news()

    def _ask_for_papers(self) -> None:
        client, home, run_id = self._link.client, self._link.home, self.run_id

        def found(papers: RunMetadata) -> None:
            if run_id == self.run_id:
                self._papers = papers
                self.changed.emit()

        def refused(error: UserError) -> None:
            # A daemon that is lost is asked again when it is back; the status line tells of it.
            if run_id == self.run_id and self._link.is_ready:
                self._notices.fail(error)

        self._tasks.run(self, lambda: fetch_run_metadata(client, home, run_id), found, refused)

    def _on_link_changed(self) -> None:
        if self._link.is_ready != self._was_ready:
            self._was_ready = self._link.is_ready
            self.changed.emit()

    def _on_recovered(self) -> None:
        if self.run_id and self._papers is None:
            self._ask_for_papers()
        self._note_news()

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self.run_id:
            run = self.run
            # What it leaves behind is known for certain when it is over.
            if run is not None and run.state.is_final and self._papers is not None:
                self._ask_for_papers()
            self._note_news()

    def _note_news(self) -> None:
        self._has_news = self._wants_newest = True
        self._ticker.wake()

    def _on_tick(self) -> bool:
        feed = self._feed
        if feed is None:
            return False
        self.environment = feed.newest_environment() or self.environment
        self._drawn.take_policies(feed.newest_policies())
        names, is_past = self.agents.names, self.step is None and not self.episodes.is_live
        step = self.agents.newest_step(feed, self._drawn.learners, is_past=is_past)
        self._has_news |= names != self.agents.names
        frame = feed.newest_frame() if self._is_watched else None
        self.step, self.frame = step or self.step, frame or self.frame
        if step is not None and self._is_watched:
            self._draw_scene()
        if (step is not None or frame is not None) and self._is_watched:
            self.frame_changed.emit()
        if self._wants_newest and not self._is_asking:
            self._wants_newest = False
            self._ask_for_newest_episode()
        if (step is not None and self._is_watched) or self._has_news:
            self._has_news = False
            self.changed.emit()
            return True
        return frame is not None

    def _draw_scene(self) -> None:
        run, step = self.run, self.step
        if step is not None and run is not None:
            self._drawn.draw(run.env_id, step, self.environment)

    def _ask_for_newest_episode(self) -> None:
        self._is_asking = True
        client, run_id = self._link.client, self.run_id

        def found(page: EpisodePage) -> None:
            self._is_asking = False
            self._ticker.wake()  # there may have been news meanwhile, or another run is shown
            if run_id == self.run_id and page.episodes:
                self.newest_episode = self.agents.newest_of(page.episodes, self._drawn.learners)
                self._choose_steps()
                self.changed.emit()

        def refused(_: UserError) -> None:
            self._is_asking = False  # asked again with the next news
            self._ticker.wake()

        self._tasks.run(
            self,
            lambda: client.episodes_page(run_id, count=_NEWEST_EPISODES, descending=True),
            found,
            refused,
        )

    def _choose_steps(self) -> None:
        newest, shown = self.newest_episode, self.pinned_episode
        if shown is None and newest is not None:
            if self.steps.run_id and self.steps.is_loading:
                return  # of a run with many short episodes, none would ever be seen
            if not newest.steps and self.steps.rowCount():
                return  # it has just begun: what is there stays until there is something to see
            shown = newest.episode
        self.steps.show(self.run_id, shown)

    def _on_started_again(self, run_id: str) -> None:
        self._is_starting_again = False
        self._notices.offer(
            f"Started again with live telemetry as {run_text.short_id(run_id)}.",
            "Watch",
            lambda: self.show(run_id),
            tone="good",
        )
        self.changed.emit()

    def _on_not_started(self, error: UserError) -> None:
        self._is_starting_again = False
        self._notices.fail(error)
        self.changed.emit()

    def _key(self) -> str:
        worker = self._papers.config.worker if self._papers else ""
        return f"{MINIMAL_TELEMETRY_KEY}/{worker}"

    def _end_feed(self) -> None:
        if self._feed is not None:
            self._feed.close()
            self._past = [feed for feed in self._past if any(t.is_alive() for t in feed.threads)]
            self._past.append(self._feed)
            self._feed = None

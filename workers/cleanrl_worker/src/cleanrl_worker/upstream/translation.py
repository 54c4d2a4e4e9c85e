"""Makes telemetry of what a script prints and of what its event files say.

A point that both tell is emitted once, when the first of them tells it: printed lines come at
once, event files two minutes later but with every curve.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.episode_matching import EpisodeMatching
from cleanrl_worker.upstream.output_lines import Figures, Speed, Unreadable
from cleanrl_worker.upstream.points_told import SeenPoints
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cleanrl_worker.upstream.episode_matching import EndedEpisode
    from cleanrl_worker.upstream.event_records import EventPoint
    from mosaic_worker import Run

_LENGTH_PATIENCE_S = 150.0
"""An event file is written every two minutes; a length that has not come by then never will."""

UNREADABLE_LINES = "W246"
"""Lines of the script look like telemetry but are in a form that is not known."""

NOTHING_UNDERSTOOD = "W247"
"""The script ended without a line or an event file that could be understood."""

LENGTHS_UNKNOWN = "W248"
"""The script does not tell how long its episodes are; they are listed with 0 steps."""

RETURN = "charts/episodic_return"
LENGTH = "charts/episodic_length"
SPEED = "charts/SPS"
EVALUATION = "eval/"

_TAGS = {"episodic_return": RETURN, "episodic_length": LENGTH, "SPS": SPEED, "sps": SPEED}
_MOST_SPEEDS = 10_000
_PROGRESS_SECONDS = 1.0


class Translation:
    """What one script says, as `metric`, `episode` and `progress` lines."""

    def __init__(self, run: Run, total_timesteps: int | None, *, tells_episodes: bool) -> None:
        """`tells_episodes` is False where the environments themselves are recorded."""
        self.has_event_files = False
        """Whoever finds an event file sets this."""
        self.returns_told = 0
        """Of how many episodes the return is known; their lengths may come much later."""
        self._episodes = 0
        self._run = run
        self._emitter = run.emitter
        self._total = total_timesteps
        self._tells_episodes = tells_episodes
        self._matching = EpisodeMatching()
        self._told = SeenPoints()
        self._speeds: list[tuple[float, int | None, float]] = []
        self._tags_in_files: set[str] = set()
        self._understood = 0
        self._unreadable = 0
        self._told_lengths_unknown = False
        self._step = 0
        self._started: tuple[float, int] | None = None
        self._progress_due = 0.0

    def take_printed(self, said: Figures | Speed | Unreadable) -> None:
        if isinstance(said, Unreadable):
            self._count_unreadable(said.line)
        elif isinstance(said, Speed):
            self._understood += 1
            self._take_speed(said.steps_per_second)
        else:
            self._understood += 1
            self._take_figures(said)

    def take_point(self, point: EventPoint) -> None:
        """A point of an event file."""
        self._understood += 1
        self._tags_in_files.add(point.tag)
        if not point.tag.startswith(EVALUATION):
            self._advance(point.step)
        if self._told.is_new_in_file(point.tag, point.step):
            self._emit(point.tag, point.value, point.step, point.wall_time)
            if point.tag == RETURN:
                self._take_return(point.step, point.value, point.wall_time)
        if point.tag == LENGTH:
            self._end(self._matching.add_length(point.step, point.value))

    def finish(self, *, has_failed: bool = False) -> None:
        """The script has ended, and all has been taken."""
        if SPEED not in self._tags_in_files:
            for value, step, t in self._speeds:
                self._emit(SPEED, value, step, t)
        self._speeds.clear()
        self._end(self._matching.leave())
        if self._total and self._step:
            self._progress(time.monotonic())
        if self._unreadable > 1:
            self._emitter.log(
                "warning",
                UNREADABLE_LINES,
                f"{self._unreadable} lines in all could not be understood.",
                count=self._unreadable,
            )
        if not self._understood and not has_failed:
            self._emitter.log(
                "warning",
                NOTHING_UNDERSTOOD,
                "Nothing that the script printed or wrote was understood as telemetry; "
                "its output is in the run's log.",
            )

    def _take_figures(self, said: Figures) -> None:
        t = self._emitter.time()
        if said.step is not None:
            self._advance(said.step)
        step = self._step if said.step is None else said.step
        if said.evaluation is not None:
            step = said.evaluation
        for key, values in said.values.items():
            tag = _TAGS.get(key, key) if said.evaluation is None else f"{EVALUATION}{key}"
            for value in values:
                if self._told.is_new_in_print(tag, step):
                    self._emit(tag, value, step, t)
                    if tag == RETURN:
                        self._take_return(step, value, t)
                    elif tag == LENGTH:
                        self._end(self._matching.add_length(step, value))
        if not self.has_event_files:
            self._end(self._matching.leave())
        else:
            self._end(self._matching.leave_before(self._emitter.time() - _LENGTH_PATIENCE_S))

    def _take_return(self, step: int, value: float, t: float) -> None:
        self.returns_told += 1
        self._end(self._matching.add_return(step, value, t))

    def _take_speed(self, value: float) -> None:
        """It comes without a step; so one that the event file has too could not be recognised."""
        if not self.has_event_files:
            self._emit(SPEED, value, self._step or None, self._emitter.time())
        elif SPEED not in self._tags_in_files and len(self._speeds) < _MOST_SPEEDS:
            self._speeds.append((value, self._step or None, self._emitter.time()))

    def _emit(self, tag: str, value: float, step: int | None, t: float) -> None:
        try:
            self._emitter.metric(tag, value, step, t=t)
        except WorkerError as error:
            self._count_unreadable(f"{tag}={value}, step={step} ({error.message})")

    def _end(self, episodes: Iterable[EndedEpisode]) -> None:
        for ended in episodes:
            number, self._episodes = self._episodes, self._episodes + 1
            if not self._tells_episodes:
                continue
            if ended.length is None and not self._told_lengths_unknown:
                self._told_lengths_unknown = True
                self._emitter.log(
                    "info",
                    LENGTHS_UNKNOWN,
                    "The script does not tell how long each episode was: "
                    "those are listed with 0 steps.",
                )
            self._emitter.episode(
                f"ep{number}",
                ended.length or 0,
                ended.episode_return,
                episode=number,
                t_end=ended.t_end,
            )

    def _advance(self, step: int) -> None:
        if step <= self._step:
            return
        self._step = self._run.heartbeat.global_step = step
        now = time.monotonic()
        if self._started is None:
            self._started = (now, step)
        if self._total and now >= self._progress_due:
            self._progress_due = now + _PROGRESS_SECONDS
            self._progress(now)

    def _progress(self, now: float) -> None:
        total = self._total or 0
        began, first = self._started or (now, self._step)
        eta = None
        if self._step > first and now > began:
            left = max(0, total - self._step)
            eta = round(left * (now - began) / (self._step - first), 1)
        self._emitter.progress(min(self._step, total), total, eta_s=eta)

    def _count_unreadable(self, example: str) -> None:
        self._unreadable += 1
        if self._unreadable == 1:
            self._emitter.log(
                "warning",
                UNREADABLE_LINES,
                "A line of the script looks like telemetry but its form is not known: "
                f"{example[:200]}",
                count=1,
            )

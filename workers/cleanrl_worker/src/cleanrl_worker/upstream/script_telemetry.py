"""ScriptTelemetry: converts a script's printed lines and event files to telemetry.

A point that is in both is emitted once, when it is read first: printed lines arrive at once, event
files up to two minutes later but with every curve.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.output_lines import PrintedMetrics, PrintedSpeed, Unreadable
from cleanrl_worker.upstream.point_matching import EpisodeMatcher, SeenPoints
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cleanrl_worker.upstream.event_files import EventPoint
    from cleanrl_worker.upstream.point_matching import EndedEpisode
    from mosaic_worker import Run

_LENGTH_TIMEOUT_S = 150.0
"""Event files are flushed every two minutes; a later length will not arrive."""

UNREADABLE_LINES = "W246"
"""Lines of the script look like telemetry but failed to parse."""

NO_TELEMETRY = "W247"
"""The script ended without a line or an event file that could be parsed."""

LENGTHS_UNKNOWN = "W248"
"""The script does not report the length of its episodes; they are listed with 0 steps."""

RETURN = "charts/episodic_return"
LENGTH = "charts/episodic_length"
SPEED = "charts/SPS"
EVALUATION = "eval/"

_TAGS = {"episodic_return": RETURN, "episodic_length": LENGTH, "SPS": SPEED, "sps": SPEED}
_MAX_SPEEDS = 10_000
_PROGRESS_INTERVAL_S = 1.0


class ScriptTelemetry:
    """Emits the `metric`, `episode` and `progress` events of one script."""

    def __init__(self, run: Run, total_timesteps: int | None, *, emits_episodes: bool) -> None:
        """`emits_episodes` is False if the environments themselves are recorded."""
        self.has_event_files = False
        """Set by the caller once an event file exists."""
        self.known_returns = 0
        """The number of episodes with a known return; their lengths may arrive much later."""
        self._episodes = 0
        self._run = run
        self._emitter = run.emitter
        self._total = total_timesteps
        self._emits_episodes = emits_episodes
        self._matcher = EpisodeMatcher()
        self._seen = SeenPoints()
        self._speeds: list[tuple[float, int | None, float]] = []
        self._tags_in_files: set[str] = set()
        self._parsed = 0
        self._unreadable = 0
        self._has_warned_of_lengths = False
        self._step = 0
        self._started: tuple[float, int] | None = None
        self._progress_due = 0.0

    def handle_line(self, line: PrintedMetrics | PrintedSpeed | Unreadable) -> None:
        """Handle a parsed line of the script's output."""
        if isinstance(line, Unreadable):
            self._count_unreadable(line.text)
        elif isinstance(line, PrintedSpeed):
            self._parsed += 1
            self._handle_speed(line.steps_per_second)
        else:
            self._parsed += 1
            self._handle_metrics(line)

    def handle_point(self, point: EventPoint) -> None:
        """Handle a point of an event file."""
        self._parsed += 1
        self._tags_in_files.add(point.tag)
        if not point.tag.startswith(EVALUATION):
            self._advance(point.step)
        if self._seen.is_new_in_file(point.tag, point.step):
            self._emit(point.tag, point.value, point.step, point.wall_time)
            if point.tag == RETURN:
                self._handle_return(point.step, point.value, point.wall_time)
        if point.tag == LENGTH:
            self._emit_episodes(self._matcher.add_length(point.step, point.value))

    def finish(self, *, has_failed: bool = False) -> None:
        """Call after the script has ended and all of its output was handled."""
        if SPEED not in self._tags_in_files:
            for value, step, t in self._speeds:
                self._emit(SPEED, value, step, t)
        self._speeds.clear()
        self._emit_episodes(self._matcher.flush())
        if self._total and self._step:
            self._progress(time.monotonic())
        if self._unreadable > 1:
            self._emitter.log(
                "warning",
                UNREADABLE_LINES,
                f"{self._unreadable} lines in total failed to parse.",
                count=self._unreadable,
            )
        if not self._parsed and not has_failed:
            self._emitter.log(
                "warning",
                NO_TELEMETRY,
                "No telemetry was found in the script's output or event files; "
                "its output is in the run's log.",
            )

    def _handle_metrics(self, line: PrintedMetrics) -> None:
        t = self._emitter.time()
        if line.step is not None:
            self._advance(line.step)
        step = self._step if line.step is None else line.step
        if line.evaluation is not None:
            step = line.evaluation
        for key, values in line.values.items():
            tag = _TAGS.get(key, key) if line.evaluation is None else f"{EVALUATION}{key}"
            for value in values:
                if self._seen.is_new_in_print(tag, step):
                    self._emit(tag, value, step, t)
                    if tag == RETURN:
                        self._handle_return(step, value, t)
                    elif tag == LENGTH:
                        self._emit_episodes(self._matcher.add_length(step, value))
        if not self.has_event_files:
            self._emit_episodes(self._matcher.flush())
        else:
            self._emit_episodes(
                self._matcher.flush_before(self._emitter.time() - _LENGTH_TIMEOUT_S)
            )

    def _handle_return(self, step: int, value: float, t: float) -> None:
        self.known_returns += 1
        self._emit_episodes(self._matcher.add_return(step, value, t))

    def _handle_speed(self, value: float) -> None:
        """A printed speed has no step, so it cannot be matched with the event file's."""
        if not self.has_event_files:
            self._emit(SPEED, value, self._step or None, self._emitter.time())
        elif SPEED not in self._tags_in_files and len(self._speeds) < _MAX_SPEEDS:
            self._speeds.append((value, self._step or None, self._emitter.time()))

    def _emit(self, tag: str, value: float, step: int | None, t: float) -> None:
        try:
            self._emitter.metric(tag, value, step, t=t)
        except WorkerError as error:
            self._count_unreadable(f"{tag}={value}, step={step} ({error.message})")

    def _emit_episodes(self, episodes: Iterable[EndedEpisode]) -> None:
        for ended in episodes:
            number, self._episodes = self._episodes, self._episodes + 1
            if not self._emits_episodes:
                continue
            if ended.length is None and not self._has_warned_of_lengths:
                self._has_warned_of_lengths = True
                self._emitter.log(
                    "info",
                    LENGTHS_UNKNOWN,
                    "The script does not report the length of its episodes: "
                    "they are listed with 0 steps.",
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
            self._progress_due = now + _PROGRESS_INTERVAL_S
            self._progress(now)

    def _progress(self, now: float) -> None:
        total = self._total or 0
        started, first = self._started or (now, self._step)
        eta_s = None
        if self._step > first and now > started:
            left = max(0, total - self._step)
            eta_s = round(left * (now - started) / (self._step - first), 1)
        self._emitter.progress(min(self._step, total), total, eta_s=eta_s)

    def _count_unreadable(self, example: str) -> None:
        self._unreadable += 1
        if self._unreadable == 1:
            self._emitter.log(
                "warning",
                UNREADABLE_LINES,
                f"A line of the script looks like telemetry but failed to parse: {example[:200]}",
                count=1,
            )

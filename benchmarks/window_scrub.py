"""Scrubbing in a replay of LunarLander: latency from the slider to the painted frame.

benchmarks/run window_scrub [--moves N] [--platform xcb]

All frames are in the cache. Each move is a mouse event on the timeline and ends when the frame of
that position was painted. The baseline is a frame in memory on the same canvas alone.
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from cached_bundles import daemon_with_bundle
from PySide6.QtCore import QEvent, QEventLoop, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent  # noqa: TID251
from PySide6.QtWidgets import QApplication, QWidget  # noqa: TID251
from report import print_ratio, print_table
from window_harness import (
    add_platform_option,
    clocks_ms,
    open_window,
    run_for,
    summarize,
    use_platform,
    wait_for,
)

from gym_gui.app.wiring import AppContext
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.replay.view.reward_timeline import RewardTimeline
from gym_gui.widgets.frame_canvas import FrameCanvas

_ENVIRONMENT = "LunarLander-v3"
_MIN_STEPS = 250
_GOAL_MS = 16.0
_SETTLE_S = 3.0
_PAINT_TIMEOUT_MS = 2_000
_SWEEP_STEP = 2
"""Steps between two positions of a sweep, so that each move changes the frame."""


@dataclass
class Times:
    """Milliseconds from the move to the painted frame."""

    wall: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def row(self, name: str) -> tuple[object, ...]:
        kinds = (self.wall, self.own, self.cpu)
        return (name, *(value for kind in kinds for value in summarize(kind)))


class Stopwatch(QObject):
    """Measures the time until a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._loop = QEventLoop()
        self._is_waiting = False
        widget.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if self._is_waiting and event.type() == QEvent.Type.Paint:
            self._is_waiting = False
            QTimer.singleShot(0, self._loop.quit)  # after the paint
        return False

    def take(self, move: Callable[[], None], times: Times) -> None:
        self._is_waiting = True
        QTimer.singleShot(_PAINT_TIMEOUT_MS, self._loop, self._loop.quit)
        before = clocks_ms()
        move()
        self._loop.exec()
        wall, queued, cpu = (new - old for new, old in zip(clocks_ms(), before, strict=True))
        times.wall.append(wall)
        times.own.append(wall - queued)
        times.cpu.append(cpu)


def record_episode(bench: AppContext) -> str:
    """Record an episode of the scripted actor and return its run."""
    panel, play = bench.models.session_panel, bench.models.play
    panel.set_mode("hybrid")
    panel.choice.choose(_ENVIRONMENT)
    wait_for(lambda: panel.actors.find("scripted") is not None, "actor")
    panel.choose_actor("scripted")
    panel.play()
    wait_for(
        lambda: play.is_episode_finished or (play.step is not None and play.step.step > _MIN_STEPS),
        "long enough game",
    )
    run_id = bench.models.sessions.state.run_id
    play.stop()
    wait_for(lambda: not play.is_on, "end of the session")
    return run_id


def fill_cache(bench: AppContext, run_id: str) -> ReplayModel:
    replay = bench.models.replay
    bench.navigation.replay(run_id, 0)
    wait_for(lambda: replay.phase == "ready" and replay.steps > 0, "episode")
    for index in range(replay.steps + 1):
        replay.seek(index)
        if not replay.is_frame_current:
            wait_for(lambda: replay.is_frame_current, "frame")
    run_for(_SETTLE_S)
    return replay


def scrub(bench: AppContext, replay: ReplayModel, positions: list[int]) -> Times:
    timeline = bench.replay_page.findChild(RewardTimeline)
    canvas = bench.replay_page.findChild(FrameCanvas)
    assert timeline is not None
    assert canvas is not None
    stopwatch, times = Stopwatch(canvas), Times()
    send_mouse(timeline, QEvent.Type.MouseButtonPress, 0.5)
    run_for(0.2)
    for position in positions:
        share = (position + 0.5) / (replay.steps + 1)
        before = replay.playhead
        stopwatch.take(lambda: send_mouse(timeline, QEvent.Type.MouseMove, share), times)  # noqa: B023
        if not replay.is_frame_current or replay.playhead == before:
            raise SystemExit(f"Step {position} was not in the cache, or the move had no effect.")
    send_mouse(timeline, QEvent.Type.MouseButtonRelease, 0.5)
    return times


def without_repeats(positions: list[int]) -> list[int]:
    return [
        position
        for position, last in zip(positions[1:], positions, strict=False)
        if position != last
    ]


def send_mouse(widget: QWidget, kind: QEvent.Type, share: float) -> None:
    at = QPointF(widget.width() * share, widget.height() / 2)
    button = Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(kind, at, widget.mapToGlobal(at), button, button, none)
    QApplication.sendEvent(widget, event)


def paint_alone(bench: AppContext, replay: ReplayModel, moves: int) -> Times:
    """The same canvas in the same size, in a separate window."""
    shown = bench.replay_page.findChild(FrameCanvas)
    frame = replay.frame
    assert shown is not None
    assert frame is not None
    canvas = FrameCanvas(bench.theme, "Picture")
    canvas.resize(shown.size())
    canvas.show()
    run_for(0.5)
    stopwatch, times = Stopwatch(canvas), Times()
    for _ in range(moves):
        stopwatch.take(
            lambda: canvas.show_frame(
                frame.pixels, frame.width, frame.height, channels=frame.channels
            ),
            times,
        )
    canvas.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=400)
    add_platform_option(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with daemon_with_bundle() as (_, home), open_window(home) as bench:
        replay = fill_cache(bench, record_episode(bench))
        chooser, steps = random.Random(5), replay.steps
        # Places far apart and neighbours, as a hand does both.
        inner = range(steps // 20, steps - steps // 20, _SWEEP_STEP)
        jumps = [position for _ in range(options.moves) for position in chooser.sample(inner, 2)]
        sweep = [position for _ in range(options.moves) for position in (*inner, *inner[-2:0:-1])]
        alone = paint_alone(bench, replay, options.moves)
        jumped = scrub(bench, replay, without_repeats(jumps)[: options.moves])
        swept = scrub(bench, replay, sweep[: options.moves])
    print_table(
        f"From the slider to the pixel, ms, {steps} steps of {_ENVIRONMENT}",
        ("", "p50", "p99", "max", "own p50", "own p99", "own max", "cpu p50", "cpu p99", "cpu max"),
        [
            alone.row("frame in memory"),
            jumped.row("jumps along the timeline"),
            swept.row("a sweep along it"),
        ],
    )
    for name, times in (("jumps", jumped), ("sweep", swept)):
        wall, own = summarize(times.wall), summarize(times.own)
        print(
            f"{name}: p50 {wall[0] / _GOAL_MS:.2f}, p99 {wall[1] / _GOAL_MS:.2f} of the goal of"
            f" {_GOAL_MS:.0f} ms; without waiting for a processor p99 {own[1] / _GOAL_MS:.2f}"
        )
    print_ratio(
        "sweep against the frame in memory, p50, CPU time",
        summarize(swept.cpu)[0] / summarize(alone.cpu)[0],
        f"{_GOAL_MS:.0f} ms",
    )


if __name__ == "__main__":
    main()

"""`python -m gym_gui.app.demo_recording FILE`: records the demo as an animated GIF for the README.

Drives the real window without a display, with a daemon in a temporary home: the demo run starts,
trains in the live view and the charts, and its best episode is replayed. The installed bundles of
`--home` are used.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QElapsedTimer, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gym_gui.app.screenshots import ScreenshotRunner, temporary_home
from gym_gui.app.start_up import StartupOptions
from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from mosaic.contract.layout import Home

_WINDOW_SIZE = QSize(1200, 750)
_GIF_WIDTH = 960
_FRAME_INTERVAL_MS = 300
"""Time between two captured frames of a running view."""
_FRAME_DURATION_MS = 200
"""Display time of such a frame, shorter than the interval: the animation is a time lapse."""
_STEP_DURATION_MS = 320
_PAUSE_MS = 1400
_LIVE_FRAMES = 15
_CHART_FRAMES = 10
_COLOURS = 255
_PALETTE_FRAMES = 12


class AnimationWriter:
    """Collects frames and writes them as one GIF with a common palette."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._frames: list[Image.Image] = []
        self._durations_ms: list[int] = []

    @property
    def duration_s(self) -> float:
        return sum(self._durations_ms) / 1000

    def add(self, image: QImage, duration_ms: int) -> None:
        scaled = image.scaledToWidth(self._width, Qt.TransformationMode.SmoothTransformation)
        pixels = scaled.convertToFormat(QImage.Format.Format_RGB888)
        size = (pixels.width(), pixels.height())
        data = bytes(pixels.constBits())
        self._frames.append(Image.frombytes("RGB", size, data, "raw", "RGB", pixels.bytesPerLine()))
        self._durations_ms.append(duration_ms)

    def write(self, path: Path) -> None:
        """Write the file. Pixels that do not change between two frames are not stored again."""
        palette = self._palette()
        frames = [
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self._frames
        ]
        frames[0].save(
            path,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=self._durations_ms,
            loop=0,
            optimize=False,
        )

    def _palette(self) -> Image.Image:
        """Return an image whose palette suits all frames, so that equal pixels stay equal."""
        step = max(1, len(self._frames) // _PALETTE_FRAMES)
        samples = self._frames[::step]
        width, height = samples[0].size
        sheet = Image.new("RGB", (width, height * len(samples)))
        for index, frame in enumerate(samples):
            sheet.paste(frame, (0, index * height))
        return sheet.quantize(_COLOURS, dither=Image.Dither.NONE)


class DemoRecorder:
    """Shows the demo in one window and records it."""

    def __init__(self, context: AppContext, animation: AnimationWriter) -> None:
        self._context = context
        self._models = context.models
        self._animation = animation
        self._runner = ScreenshotRunner(context, Path())

    def record(self) -> None:
        """Record the welcome page, the live view, the charts and a replay."""
        context = self._context
        context.window.resize(_WINDOW_SIZE)
        context.window.reset_layout()
        self._runner.wait(lambda: context.link.is_ready, "the daemon")
        context.window.centre.show_welcome()
        self._sleep(_PAUSE_MS)
        self._add(_PAUSE_MS)
        self._record_training()
        self._record_charts()
        self._record_replay()

    def _record_training(self) -> None:
        live = self._models.live
        self._context.commands.actions["view.session_panel"].trigger()  # more space for the run
        self._context.navigation.demo.start()
        self._runner.wait(lambda: live.newest_episode is not None, "the first episode")
        self._record_running(_LIVE_FRAMES)

    def _record_charts(self) -> None:
        page = self._context.analysis.charts_page
        self._context.window.centre.show_tab("charts")
        self._runner.wait(lambda: page.is_displayed, "the charts")
        self._record_running(_CHART_FRAMES)

    def _record_replay(self) -> None:
        run, replay = self._models.live.run, self._models.replay
        if run is None:
            raise SystemExit("The demo run was not selected.")
        self._runner.wait(lambda: self._is_finished(run.run_id), "the end of the run")
        self._context.navigation.replay(run.run_id)
        self._runner.wait(lambda: replay.steps > 0, "an episode")
        replay.open_outstanding("best")
        self._runner.wait(lambda: replay.state.is_checked, "the verification of the replay")
        for index in range(replay.steps + 1):
            replay.seek(index)
            self._runner.wait(lambda: replay.is_frame_current, f"frame {index}")
            self._sleep(_STEP_DURATION_MS)
            self._add(_STEP_DURATION_MS)
        self._add(_PAUSE_MS)

    def _is_finished(self, run_id: str) -> bool:
        run = self._models.runs.by_id(run_id)
        return run is not None and run.state.is_final

    def _record_running(self, frames: int) -> None:
        for _ in range(frames):
            self._sleep(_FRAME_INTERVAL_MS)
            self._add(_FRAME_DURATION_MS)

    def _add(self, duration_ms: int) -> None:
        self._animation.add(self._context.window.grab().toImage(), duration_ms)

    def _sleep(self, duration_ms: int) -> None:
        """Let the window run for some time."""
        timer = QElapsedTimer()
        timer.start()
        self._runner.wait(lambda: timer.hasExpired(duration_ms), "the next frame")


@contextmanager
def _open_window(home: Home) -> Iterator[AppContext]:
    app = QApplication(sys.argv[:1])
    context = AppContext(home)
    apply_theme(app, context.theme, context.window)
    context.theme.choose("dark")
    context.window.show()
    context.open(StartupOptions())
    try:
        yield context
    finally:
        context.window.close()
        if context.link.has_client:
            context.link.client.shutdown()
        context.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="demo_recording", description=__doc__)
    parser.add_argument("file", type=Path, help="GIF file to write, such as docs/img/demo.gif")
    parser.add_argument("--home", type=Path, default=None, help="home with the installed bundles")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    animation = AnimationWriter(_GIF_WIDTH)
    with temporary_home(Home.locate(arguments.home)) as home, _open_window(home) as context:
        DemoRecorder(context, animation).record()
    animation.write(arguments.file)
    size_kb = arguments.file.stat().st_size // 1000
    print(f"{arguments.file}: {animation.duration_s:.1f} s, {size_kb} kB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m gym_gui.app.screenshots`: saves every screen, light and dark, as a PNG file.

Runs the real window without a display, with a daemon in a temporary home and real sessions. The
installed environment bundles of `--home` are used, so that they are not installed again.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSize, QTimer
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from gym_gui.app.start_up import StartupOptions
from gym_gui.app.theme import apply_theme
from gym_gui.app.training_screenshots import TrainingScreenshots
from gym_gui.app.wiring import AppContext
from gym_gui.runtime.models.theme_model import ThemeChoice
from gym_gui.runtime.run_operations import DEMO_NAME
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunRecord

_POLL_MS = 20
_TIMEOUT_S = 120.0
_RENDER_DELAY_S = 1.6
_MAX_LANDING_STEPS = 600
_THEMES: tuple[ThemeChoice, ...] = ("light", "dark")


class ScreenshotRunner:
    """Shows and captures all screens of one window."""

    def __init__(self, context: AppContext, folder: Path) -> None:
        self._context = context
        self._models = context.models
        self._centre = context.window.centre
        self._folder = folder
        self.paths: list[Path] = []

    def capture_all(self, size: QSize) -> None:
        """Capture each screen in both themes."""
        self._context.window.resize(size)
        self._context.window.reset_layout()
        self.wait(lambda: self._context.link.is_ready, "a daemon")
        self._centre.show_welcome()
        self.capture("welcome")
        self._play_by_agent()
        self._play_by_hand()
        self._replay()
        self._watch_demo()
        TrainingScreenshots(self, self._context).capture_all()
        self._show_tools()

    def _play_by_agent(self) -> None:
        panel = self._models.session_panel
        panel.set_mode("hybrid")
        panel.choice.choose("FrozenLake8x8-v1")
        self.wait(lambda: panel.actors.find("scripted") is not None, "the actors")
        panel.choose_actor("scripted")
        panel.play()
        self._wait_for_step(8)
        self.capture("hybrid-grid")
        self._models.play.take_over_or_release()
        self.wait(lambda: self._models.play.person_acts, "the takeover")
        self.capture("hybrid-taken-over")
        self._centre.show_tab("raw")
        self.capture("raw")

    def _play_by_hand(self) -> None:
        panel = self._models.session_panel
        panel.choice.choose("LunarLander-v3")
        panel.choose_actor("scripted")
        panel.play()
        self.wait(lambda: self._models.play.state.env_id == "LunarLander-v3", "the lander")
        self._centre.show_tab("frame")
        self.wait(lambda: self._models.play.frame is not None, "a frame")
        self.capture("frame")
        self._context.session_panel.open_environment_picker()
        self.capture("environment-picker")
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()
        self.wait(
            lambda: self._models.play.is_episode_finished or self._steps() > _MAX_LANDING_STEPS,
            "a landing",
        )

    def _replay(self) -> None:
        run_id = self._models.sessions.state.run_id
        self._models.play.stop()
        self.wait(lambda: not self._models.play.is_on, "the end of the session")
        self._context.navigation.replay(run_id, 0)
        replay = self._models.replay
        self.wait(lambda: replay.state.is_checked, "the check of the replay")
        replay.seek(replay.steps // 2)
        self.wait(lambda: replay.is_frame_current and replay.step is not None, "the frame")
        self.capture("replay")

    def _watch_demo(self) -> None:
        demo, live = self._context.navigation.demo, self._models.live
        demo.start()
        self.wait(
            lambda: demo.is_offering or _is_demo(live.run),
            "the demo run or the offer to install it",
        )
        if demo.is_offering:
            demo.start_echo()
        self.wait(lambda: _is_demo(live.run), "the demo run")
        self.wait(lambda: live.newest_episode is not None, "episode of the demo run")
        self.capture("live")
        beliefs = self._context.commands.actions["view.beliefs"]
        if beliefs.isEnabled():
            beliefs.trigger()
            self.capture("beliefs")

    def _show_tools(self) -> None:
        self._context.window.show_log()
        self.capture("log")
        self._context.window.show_runs()
        self._centre.show_settings()
        self.capture("settings")
        self._centre.show_tabs()
        self._context.commands.actions["tools.palette"].trigger()
        self.capture("command-palette")
        self._context.palette.dismiss()

    def capture(self, name: str) -> None:
        for theme in _THEMES:
            self._context.theme.choose(theme)
            self._wait_for_rendering()
            path = self._folder / f"{name}-{theme}.png"
            self._grab().save(str(path))
            self.paths.append(path)

    def _grab(self) -> QPixmap:
        """The window with its open popup."""
        window, popup = self._context.window, QApplication.activePopupWidget()
        pixmap = window.grab()
        if popup is not None:
            painter = QPainter(pixmap)
            painter.drawPixmap(window.mapFromGlobal(popup.pos()), popup.grab())
            painter.end()
        return pixmap

    def _steps(self) -> int:
        step = self._models.play.step
        return step.step if step is not None else 0

    def _wait_for_step(self, number: int) -> None:
        self.wait(lambda: self._steps() >= number, f"step {number}")

    def _wait_for_rendering(self) -> None:
        self.wait(self._context.window.updatesEnabled, "the theme")
        loop = QEventLoop()
        QTimer.singleShot(round(_RENDER_DELAY_S * 1000), loop.quit)
        loop.exec()

    def wait(self, condition: Callable[[], bool], name: str) -> None:
        loop, deadline, is_met = QEventLoop(), time.monotonic() + _TIMEOUT_S, False

        def check() -> None:
            nonlocal is_met
            is_met = condition()  # checked only once: it may become false again
            if is_met or time.monotonic() > deadline:
                loop.quit()

        timer = QTimer()
        timer.setInterval(_POLL_MS)
        timer.timeout.connect(check)
        timer.start()
        loop.exec()
        timer.stop()
        if not is_met:
            raise SystemExit(f"Timed out after {_TIMEOUT_S:.0f} s waiting for {name}.")


def _is_demo(run: RunRecord | None) -> bool:
    return run is not None and run.name == DEMO_NAME


@contextmanager
def temporary_home(bundles: Home) -> Iterator[Home]:
    """A temporary home that uses the installed bundles of another home."""
    with tempfile.TemporaryDirectory(prefix="mosaic-screenshots-") as folder:
        home = Home(Path(folder) / "home")
        home.trainer.mkdir(parents=True, mode=0o700)
        bundles.venvs.mkdir(parents=True, exist_ok=True)
        home.venvs.symlink_to(bundles.venvs.resolve())
        yield home


def main() -> int:
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/img"), help="output directory")
    parser.add_argument("--home", type=Path, default=None, help="home with the installed bundles")
    parser.add_argument("--size", default="1440x900", help="size of the window, such as 1024x700")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    width, _, height = arguments.size.partition("x")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with temporary_home(Home.locate(arguments.home)) as home:
        app = QApplication(sys.argv[:1])
        context = AppContext(home)
        apply_theme(app, context.theme, context.window)
        context.window.show()
        context.open(StartupOptions())
        runner = ScreenshotRunner(context, arguments.out)
        try:
            runner.capture_all(QSize(int(width), int(height)))
        finally:
            context.window.close()
            if context.link.has_client:
                context.link.client.shutdown()
            context.close()
    print(f"{len(runner.paths)} screenshots saved in {arguments.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

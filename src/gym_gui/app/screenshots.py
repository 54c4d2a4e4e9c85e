"""`python -m gym_gui.app.screenshots`: every screen, light and dark, as PNG files.

The real window without a display, a real daemon on a throwaway home, real sessions: what is on the
pictures is what a person sees. The bundle that environments are played in is taken from the home
that is named, so that it is not installed again.
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
from gym_gui.app.training_screenshots import TrainingPictures
from gym_gui.app.wiring import AppContext
from gym_gui.runtime.demo_runs import DEMO_NAME
from gym_gui.runtime.models.theme_model import ThemeChoice
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunRecord

_POLL_MS = 20
_TIMEOUT_S = 120.0
_SETTLE_S = 1.6
_ENOUGH_STEPS = 600
_THEMES: tuple[ThemeChoice, ...] = ("light", "dark")


class Photographer:
    """Leads one window through its screens."""

    def __init__(self, bench: AppContext, folder: Path) -> None:
        self._bench = bench
        self._models = bench.models
        self._centre = bench.window.centre
        self._folder = folder
        self.taken: list[Path] = []

    def take_all(self, size: QSize) -> None:
        """Each picture in both themes; what is on it is set up once."""
        self._bench.window.resize(size)
        self._bench.window.reset_layout()
        self.wait(lambda: self._bench.link.is_ready, "a daemon")
        self._centre.show_welcome()
        self.take("welcome")
        self._play_by_agent()
        self._play_by_hand()
        self._replay()
        self._watch_demo()
        TrainingPictures(self, self._bench).take_all()
        self._show_tools()

    def _play_by_agent(self) -> None:
        panel = self._models.session_panel
        panel.set_mode("hybrid")
        panel.choice.choose("FrozenLake8x8-v1")
        self.wait(lambda: panel.actors.find("scripted") is not None, "the actors")
        panel.choose_actor("scripted")
        panel.play()
        self._wait_for_step(8)
        self.take("hybrid-grid")
        self._models.play.take_over_or_release()
        self.wait(lambda: self._models.play.person_acts, "the take-over")
        self.take("hybrid-taken-over")
        self._centre.show_tab("raw")
        self.take("raw")

    def _play_by_hand(self) -> None:
        panel = self._models.session_panel
        panel.choice.choose("LunarLander-v3")
        panel.choose_actor("scripted")
        panel.play()
        self.wait(lambda: self._models.play.state.env_id == "LunarLander-v3", "the lander")
        self._centre.show_tab("frame")
        self.wait(lambda: self._models.play.frame is not None, "a picture")
        self.take("frame")
        self._bench.session_panel.open_environment_picker()
        self.take("environment-picker")
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()
        self.wait(
            lambda: self._models.play.is_episode_finished or self._steps() > _ENOUGH_STEPS,
            "a landing",
        )

    def _replay(self) -> None:
        run_id = self._models.sessions.state.run_id
        self._models.play.stop()
        self.wait(lambda: not self._models.play.is_on, "the end of the session")
        self._bench.conduct.replay(run_id, 0)
        replay = self._models.replay
        self.wait(lambda: replay.state.is_checked, "the check of the replay")
        replay.seek(replay.steps // 2)
        self.wait(lambda: replay.is_frame_current and replay.step is not None, "the frame")
        self.take("replay")

    def _watch_demo(self) -> None:
        demo, live = self._bench.conduct.demo, self._models.live
        demo.start()
        self.wait(lambda: demo.is_offering or _is_demo(live.run), "an answer about the demo run")
        if demo.is_offering:
            demo.start_echo()
        self.wait(lambda: _is_demo(live.run), "the demo run")
        self.wait(lambda: live.newest_episode is not None, "episode of the demo run")
        self.take("live")
        beliefs = self._bench.commands.actions["view.beliefs"]
        if beliefs.isEnabled():
            beliefs.trigger()
            self.take("beliefs")

    def _show_tools(self) -> None:
        self._bench.window.show_log()
        self.take("log")
        self._bench.window.show_runs()
        self._centre.show_settings()
        self.take("settings")
        self._centre.show_tabs()
        self._bench.commands.actions["tools.palette"].trigger()
        self.take("command-palette")
        self._bench.palette.dismiss()

    def take(self, name: str) -> None:
        for theme in _THEMES:
            self._bench.theme.choose(theme)
            self._settle()
            path = self._folder / f"{name}-{theme}.png"
            self._picture().save(str(path))
            self.taken.append(path)

    def _picture(self) -> QPixmap:
        """The window, and on it what is open above it."""
        window, popup = self._bench.window, QApplication.activePopupWidget()
        picture = window.grab()
        if popup is not None:
            painter = QPainter(picture)
            painter.drawPixmap(window.mapFromGlobal(popup.pos()), popup.grab())
            painter.end()
        return picture

    def _steps(self) -> int:
        step = self._models.play.step
        return step.step if step is not None else 0

    def _wait_for_step(self, number: int) -> None:
        self.wait(lambda: self._steps() >= number, f"step {number}")

    def _settle(self) -> None:
        loop = QEventLoop()
        QTimer.singleShot(round(_SETTLE_S * 1000), loop.quit)
        loop.exec()

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        loop, deadline, is_seen = QEventLoop(), time.monotonic() + _TIMEOUT_S, False

        def look() -> None:
            nonlocal is_seen
            is_seen = condition()  # once is enough: what is over may begin again
            if is_seen or time.monotonic() > deadline:
                loop.quit()

        timer = QTimer()
        timer.setInterval(_POLL_MS)
        timer.timeout.connect(look)
        timer.start()
        loop.exec()
        timer.stop()
        if not is_seen:
            raise SystemExit(f"Waited in vain for {what} for {_TIMEOUT_S:.0f} s.")


def _is_demo(run: RunRecord | None) -> bool:
    return run is not None and run.name == DEMO_NAME


@contextmanager
def throwaway_home(bundles: Home) -> Iterator[Home]:
    """A home of its own with the environments that another one has installed."""
    with tempfile.TemporaryDirectory(prefix="mosaic-pictures-") as folder:
        home = Home(Path(folder) / "home")
        home.trainer.mkdir(parents=True, mode=0o700)
        bundles.venvs.mkdir(parents=True, exist_ok=True)
        home.venvs.symlink_to(bundles.venvs.resolve())
        yield home


def main() -> int:
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/img"), help="where they are put")
    parser.add_argument("--home", type=Path, default=None, help="whose bundles are used")
    parser.add_argument("--size", default="1440x900", help="of the window, such as 1024x700")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    width, _, height = arguments.size.partition("x")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with throwaway_home(Home.locate(arguments.home)) as home:
        app = QApplication(sys.argv[:1])
        bench = AppContext(home)
        apply_theme(app, bench.theme, bench.window)
        bench.window.show()
        bench.open(StartupOptions())
        photographer = Photographer(bench, arguments.out)
        try:
            photographer.take_all(QSize(int(width), int(height)))
        finally:
            bench.window.close()
            if bench.link.has_client:
                bench.link.client.shutdown()
            bench.close()
    print(f"{len(photographer.taken)} pictures are in {arguments.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

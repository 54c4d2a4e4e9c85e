"""Every screen of the window, one after the other, for what has to hold on all of them."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import CENTRE_TITLES, TELEMETRY_TITLES, CentreTab
from gym_gui.app.wiring import Workbench
from gym_gui.models.session_panel_model import MODES


def is_complete(window: QWidget) -> bool:
    """Whether every page that is in sight has been built."""
    pages: list[LazyPage[Any]] = window.findChildren(LazyPage)
    return all(page.is_filled for page in pages if page.isVisible())


PLAYED: tuple[CentreTab, ...] = ("grid", "frame", "raw")


def each_played_view(bench: Workbench) -> Iterator[str]:
    """The name of each view of what is played, while it is shown."""
    for name in PLAYED:
        bench.window.centre.show_tab(name)
        yield name


def each_other_screen(bench: Workbench) -> Iterator[str]:
    """The name of each of the rest, while it is shown. The mode changes with them."""
    window, centre = bench.window, bench.window.centre
    centre.show_welcome()
    yield "welcome"
    centre.show_settings()
    yield "settings"
    for name in CENTRE_TITLES:
        if name not in PLAYED:
            centre.show_tab(name)
            yield name
    for beside in TELEMETRY_TITLES:
        window.show_telemetry(beside)
        yield f"telemetry, {beside}"
    window.show_log()
    yield "log"
    window.show_runs()
    yield "runs"
    for mode in MODES:
        bench.models.session_panel.set_mode(mode)
        yield f"{mode} mode"

"""Every screen of the window, one after the other, for what has to hold on all of them."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import CENTRE_GROUPS, CENTRE_TITLES, TELEMETRY_TITLES, CentreTab
from gym_gui.app.wiring import AppContext
from gym_gui.session.model.session_panel_model import MODES
from gym_gui.session.view.training_area import TrainingSlot
from gym_gui.training.view.training_panel import TrainingPanel


def is_complete(window: QWidget) -> bool:
    """Whether every page that is in sight has been built."""
    pages: list[LazyPage[Any]] = window.findChildren(LazyPage)
    places = window.findChildren(TrainingSlot)
    panels = window.findChildren(TrainingPanel)
    return (
        all(page.is_filled for page in pages if page.isVisible())
        and all(place.is_filled for place in places if place.isVisible())
        and all(panel.sections.is_finished for panel in panels if panel.isVisible())
    )


PLAYED: tuple[CentreTab, ...] = ("grid", "frame", "raw")


def each_played_view(bench: AppContext) -> Iterator[str]:
    """The name of each view of what is played, while it is shown."""
    for name in PLAYED:
        bench.window.centre.show_tab(name)
        yield name


def each_view_of_a_run(bench: AppContext) -> Iterator[str]:
    """The name of each tab about the run that is shown, and of each part of its page."""
    centre = bench.window.centre
    for name in CENTRE_GROUPS["analyse"]:
        if not centre.tab_reason(name):
            centre.show_tab(name)
            yield name
    if not centre.tab_reason("run"):
        centre.show_tab("run")
        for part in range(bench.analysis.run_page.content.tabs.count()):
            bench.analysis.run_page.content.tabs.setCurrentIndex(part)
            yield f"run, {bench.analysis.run_page.content.tabs.tabText(part)}"


def each_part_of_the_dock(bench: AppContext) -> Iterator[str]:
    """The name of each part of the dock at the left, and of its toggle, while it is shown."""
    panel = bench.models.session_panel
    for mode in MODES:
        panel.set_mode(mode)
        for part in ("new", "trained") if mode != "human" else ("",):
            if part:
                panel.show_tab(part)
            yield f"{mode} mode {part}".strip()


def each_other_screen(bench: AppContext) -> Iterator[str]:
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

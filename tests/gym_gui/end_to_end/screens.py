"""Iterators over the screens of the window."""

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
    """Whether every visible page is created."""
    pages: list[LazyPage[Any]] = window.findChildren(LazyPage)
    slots = window.findChildren(TrainingSlot)
    panels = window.findChildren(TrainingPanel)
    return (
        all(page.is_displayed for page in pages if page.isVisible())
        and all(slot.is_filled for slot in slots if slot.isVisible())
        and all(panel.sections.is_finished for panel in panels if panel.isVisible())
    )


SESSION_TABS: tuple[CentreTab, ...] = ("grid", "frame", "raw")


def session_screens(context: AppContext) -> Iterator[str]:
    """Show each view of the session and yield its name."""
    for name in SESSION_TABS:
        context.window.centre.show_tab(name)
        yield name


def run_screens(context: AppContext) -> Iterator[str]:
    """Show each tab of the selected run and each section of its page; yield their names."""
    centre = context.window.centre
    for name in CENTRE_GROUPS["analyse"]:
        if not centre.tab_reason(name):
            centre.show_tab(name)
            yield name
    if not centre.tab_reason("run"):
        centre.show_tab("run")
        for section in range(context.analysis.run_page.content.tabs.count()):
            context.analysis.run_page.content.tabs.setCurrentIndex(section)
            yield f"run, {context.analysis.run_page.content.tabs.tabText(section)}"


def dock_screens(context: AppContext) -> Iterator[str]:
    """Show the session dock in each mode and tab; yield their names."""
    panel = context.models.session_panel
    for mode in MODES:
        panel.set_mode(mode)
        for section in ("new", "trained") if mode != "human" else ("",):
            if section:
                panel.show_tab(section)
            yield f"{mode} mode {section}".strip()


def other_screens(context: AppContext) -> Iterator[str]:
    """Show all other screens and yield their names. Changes the mode."""
    window, centre = context.window, context.window.centre
    centre.show_welcome()
    yield "welcome"
    centre.show_settings()
    yield "settings"
    for name in CENTRE_TITLES:
        if name not in SESSION_TABS:
            centre.show_tab(name)
            yield name
    for tab in TELEMETRY_TITLES:
        window.show_telemetry(tab)
        yield f"telemetry, {tab}"
    window.show_log()
    yield "log"
    window.show_runs()
    yield "runs"
    for mode in MODES:
        context.models.session_panel.set_mode(mode)
        yield f"{mode} mode"

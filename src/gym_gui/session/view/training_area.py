"""TrainingArea: the toggle between training an agent and using a trained one.

Shown in Hybrid and Agent mode. Owns two pages and a footer, which `SessionPanel` lays out.
The pages are created when they are first shown.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.widgets.buttons import SegmentedControl

NEW = "new"
TRAINED = "trained"
_BATCH_SIZE = 40
_TIPS = {
    NEW: "Configure and launch a training run",
    TRAINED: "Play a policy that an earlier run saved",
}


class TrainingPages(Protocol):
    """Creates the pages; implemented by `app.training_dock`."""

    def prepare(self, then: Callable[[], None]) -> None:
        """Import the modules of the pages without blocking, then call `then`."""

    def new_page(self) -> tuple[QWidget, QWidget]:
        """The page, and the launch bar below it."""

    def trained_page(self) -> QWidget: ...


class TrainingArea(QWidget):
    """The toggle. Hidden if there are no pages. Shows `SessionPanelModel.tab`."""

    def __init__(
        self,
        model: SessionPanelModel,
        pages: TrainingPages | None,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._pages = pages
        self._switch = SegmentedControl([(NEW, "Train new"), (TRAINED, "Use trained")], theme)
        self._switch.setAccessibleName("Agent source")
        for tab, tip in _TIPS.items():
            self._switch.set_option_tool_tip(tab, tip)
        self.new = TrainingSlot(pages, self._create_new_page)
        self.trained = TrainingSlot(pages, self._create_trained_page)
        self.footer = TrainingSlot(None, None)
        """Holds the launch bar once its page exists."""
        # The user probably opens the other page next.
        self.trained.filled.connect(self.new.prepare_page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._switch)
        self._switch.activated.connect(model.show_tab)
        model.changed.connect(self.refresh)
        self.refresh()

    @property
    def is_offered(self) -> bool:
        """Whether an agent acts and there are pages to toggle."""
        return self._pages is not None and self._model.mode != "human"

    @property
    def trains(self) -> bool:
        """Whether the dock shows training."""
        return self.is_offered and self._model.tab == NEW

    def show_tab(self, tab: str) -> None:
        self._model.show_tab(tab)

    def refresh(self) -> None:
        self._switch.set_current(self._model.tab)
        self.setVisible(self.is_offered)
        self.new.setVisible(self.trains)
        self.footer.setVisible(self.trains)
        self.trained.setVisible(self.is_offered and not self.trains)

    def _create_new_page(self) -> QWidget | None:
        if self._pages is None:
            return None
        page, footer = self._pages.new_page()
        self.footer.set_widget(footer)
        return page

    def _create_trained_page(self) -> QWidget | None:
        return self._pages.trained_page() if self._pages is not None else None


class TrainingSlot(QWidget):
    """Empty until shown; then filled in small steps, one per event-loop turn."""

    filled = Signal()

    def __init__(
        self, pages: TrainingPages | None, create: Callable[[], QWidget | None] | None
    ) -> None:
        super().__init__()
        self._pages = pages
        self._create = create
        self._page: QWidget | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setVisible(False)

    @property
    def is_filled(self) -> bool:
        """Whether its page is visible; True if it has none."""
        return self._pages is None or self._layout.count() > 0

    def set_widget(self, widget: QWidget) -> None:
        self._layout.addWidget(widget)
        widget.setVisible(True)

    def prepare_page(self) -> None:
        """Create the page before it is shown."""
        if self._pages is not None and self._create is not None:
            create, self._create = self._create, None
            self._pages.prepare(lambda: self._defer(lambda: self._start(create)))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self.prepare_page()
        self._defer(self._fill)

    def _defer(self, step: Callable[[], None]) -> None:
        QTimer.singleShot(0, self, step)

    def _start(self, create: Callable[[], QWidget | None]) -> None:
        self._page = create()
        if self._page is not None:
            # Set the parent first, so that the style sheet of the window applies.
            self._page.setVisible(False)
            self._page.setParent(self)
            waiting = self._page.findChildren(QWidget)
            self._defer(lambda: self._polish(waiting))

    def _polish(self, waiting: list[QWidget]) -> None:
        """Polish in batches: applying the style sheet is slow."""
        for widget in waiting[:_BATCH_SIZE]:
            if isValid(widget):  # the form may have deleted it
                widget.ensurePolished()
        remaining = waiting[_BATCH_SIZE:]
        self._defer((lambda: self._polish(remaining)) if remaining else self._fill)

    def _fill(self) -> None:
        if self._page is not None and self.isVisible():
            page, self._page = self._page, None
            self.set_widget(page)
            self.filled.emit()

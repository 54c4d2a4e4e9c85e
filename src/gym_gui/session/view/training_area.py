"""TrainingArea: where an agent comes from: one to be trained, or one that was trained.

The pill toggle of the dock in Hybrid and Agent mode, and the places of what it shows: two pages and
a foot, which `SessionPanel` puts where they belong. The pages are made when they are first seen.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.widgets.segmented import SegmentedControl

NEW = "new"
TRAINED = "trained"
_AT_ONCE = 40
_TIPS = {
    NEW: "Choose what learns and how, and launch it",
    TRAINED: "Let a policy act that an earlier run has saved",
}


class TrainingPages(Protocol):
    """Who makes the pages; `app.training_dock` does."""

    def prepare(self, then: Callable[[], None]) -> None:
        """Load what the pages are made of, without holding anything up, and call `then`."""

    def new_page(self) -> tuple[QWidget, QWidget]:
        """The page, and the launch bar that stands below it."""

    def trained_page(self) -> QWidget: ...


class TrainingArea(QWidget):
    """The toggle itself; without pages there is nothing to toggle, and it is never shown."""

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
        self._switch.setAccessibleName("Where the agent comes from")
        for part, tip in _TIPS.items():
            self._switch.set_tip(part, tip)
        self.new = TrainingPlace(pages, self._make_new)
        self.trained = TrainingPlace(pages, self._make_trained)
        self.foot = TrainingPlace(None, None)
        """Where the launch bar stands, once the page it belongs to is there."""
        # Whoever looks at the one page probably looks at the other next.
        self.trained.filled.connect(self.new.make_ready)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._switch)
        self._switch.chosen.connect(model.show_part)
        model.changed.connect(self.show_choice)
        self.show_choice()

    @property
    def is_offered(self) -> bool:
        """Whether an agent is to act, and there is something to toggle."""
        return self._pages is not None and self._model.mode != "human"

    @property
    def trains(self) -> bool:
        """Whether the dock is about training."""
        return self.is_offered and self._model.part == NEW

    def show_part(self, part: str) -> None:
        self._model.show_part(part)

    def show_choice(self) -> None:
        self._switch.choose(self._model.part)
        self.setVisible(self.is_offered)
        self.new.setVisible(self.trains)
        self.foot.setVisible(self.trains)
        self.trained.setVisible(self.is_offered and not self.trains)

    def _make_new(self) -> QWidget | None:
        if self._pages is None:
            return None
        page, foot = self._pages.new_page()
        self.foot.hold(foot)
        return page

    def _make_trained(self) -> QWidget | None:
        return self._pages.trained_page() if self._pages is not None else None


class TrainingPlace(QWidget):
    """Empty until it is seen; then it is filled, one small thing per turn of the event loop."""

    filled = Signal()

    def __init__(
        self, pages: TrainingPages | None, make: Callable[[], QWidget | None] | None
    ) -> None:
        super().__init__()
        self._pages = pages
        self._make = make
        self._made: QWidget | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setVisible(False)

    @property
    def is_filled(self) -> bool:
        """Whether what belongs here can be seen; always, where nothing does."""
        return self._pages is None or self._layout.count() > 0

    def hold(self, widget: QWidget) -> None:
        self._layout.addWidget(widget)
        widget.setVisible(True)

    def make_ready(self) -> None:
        """Make what belongs here, though nobody looks yet."""
        if self._pages is not None and self._make is not None:
            make, self._make = self._make, None
            self._pages.prepare(lambda: self._later(lambda: self._begin(make)))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self.make_ready()
        self._later(self._fill)

    def _later(self, step: Callable[[], None]) -> None:
        QTimer.singleShot(0, self, step)

    def _begin(self, make: Callable[[], QWidget | None]) -> None:
        self._made = make()
        if self._made is not None:
            # Here before anybody sees it: the style sheet is that of the window.
            self._made.setVisible(False)
            self._made.setParent(self)
            waiting = self._made.findChildren(QWidget)
            self._later(lambda: self._polish(waiting))

    def _polish(self, waiting: list[QWidget]) -> None:
        """What the style sheet says of each takes longest; done at once it would be felt."""
        for widget in waiting[:_AT_ONCE]:
            if isValid(widget):  # the form may have thrown it away meanwhile
                widget.ensurePolished()
        rest = waiting[_AT_ONCE:]
        self._later((lambda: self._polish(rest)) if rest else self._fill)

    def _fill(self) -> None:
        if self._made is not None and self.isVisible():
            made, self._made = self._made, None
            self.hold(made)
            self.filled.emit()

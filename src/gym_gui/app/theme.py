"""The look of the window: palette and style sheet from the colours of `ThemeModel`.

`apply_theme` is called once, at start-up. What paints itself takes its colours from the same model.
"""

import logging
from pathlib import Path

from PySide6.QtCore import QDir, QObject, Qt, QTemporaryDir, QTimer
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget
from shiboken6 import isValid

from gym_gui.app.style_sheet import style_sheet
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.icons import IconName, svg

_log = logging.getLogger(__name__)

_PICTURES: tuple[tuple[str, IconName, str], ...] = (
    ("down", "chevron-down", "muted"),
    ("down-disabled", "chevron-down", "disabled"),
    ("up", "chevron-up", "muted"),
    ("up-disabled", "chevron-up", "disabled"),
    ("right", "chevron-right", "muted"),
    ("left", "chevron-left", "muted"),
    ("check", "check", "on_accent"),
    ("check-disabled", "check", "disabled"),
    ("check-menu", "check", "accent"),
    ("dash", "minus", "on_accent"),
    ("close", "close", "muted"),
    ("float", "external", "muted"),
    ("more", "more", "muted"),
)
"""What a style sheet can only take from files: name, drawing and colour."""
_LAY_OUT_MS = 60


def apply_theme(app: QApplication, theme: ThemeModel, window: QWidget) -> None:
    """From now on `window` looks as `theme` says, and `theme` knows whether the desktop is dark."""
    _Look(app, theme, window).apply()


class _Look(QObject):
    """Lives as long as the window.

    The style sheet is the window's, not the application's: with the latter, Qt goes over all
    widgets of a page again for each layout that the page is made of, which takes twice as long.
    """

    def __init__(self, app: QApplication, theme: ThemeModel, window: QWidget) -> None:
        super().__init__(window)
        self._app = app
        self._window = window
        self._theme = theme
        self._folder = QTemporaryDir(QDir.tempPath() + "/mosaic-look-XXXXXX")
        if app.style().objectName() != "fusion":
            app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(_with_even_digits(app.font()))
        hints = app.styleHints()
        self._follow_desktop(hints.colorScheme())
        hints.colorSchemeChanged.connect(self._follow_desktop)
        self._is_changing = False
        self._frozen: list[QWidget] = []
        theme.changed.connect(self._change)

    def apply(self) -> None:
        colours = self._theme.colours
        self._app.setPalette(palette(colours))
        self._window.setStyleSheet(style_sheet(colours, self._app.font(), self._draw(colours)))
        # When everything has its size again: what is painted before that is cut off.
        QTimer.singleShot(_LAY_OUT_MS, self, self._thaw)

    def _thaw(self) -> None:
        for window in self._frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)
        self._frozen.clear()
        self._is_changing = False

    def _change(self) -> None:
        """In two turns of the event loop, with the windows as they were until it is done.

        Given a style sheet instead of another one, Qt goes over every widget once for each of its
        ancestors, which takes a second; taking the sheet off first makes it once in all.
        """
        if self._is_changing:
            return
        self._is_changing = True
        self._frozen = [each for each in self._app.topLevelWidgets() if each.updatesEnabled()]
        for window in self._frozen:
            window.setUpdatesEnabled(False)
        self._window.setStyleSheet("")
        QTimer.singleShot(0, self, self.apply)

    def _follow_desktop(self, scheme: Qt.ColorScheme) -> None:
        self._theme.set_system_is_dark(scheme == Qt.ColorScheme.Dark)

    def _draw(self, colours: Colours) -> dict[str, str]:
        """Under names that differ by theme, because Qt keeps what it has read from a file."""
        folder = Path(self._folder.path())
        kind = "dark" if colours.is_dark else "light"
        places = {}
        try:
            for name, drawing, role in _PICTURES:
                file = folder / f"{name}-{kind}.svg"
                if not file.exists():
                    file.write_bytes(svg(drawing, str(getattr(colours, role))))
                places[name] = f'url("{file.as_posix()}")'
        except OSError as error:
            _log.warning("C310 arrows and marks are missing, for want of a place: %s", error)
            return {name: "none" for name, _, _ in _PICTURES}
        return places


def palette(colours: Colours) -> QPalette:
    """For everything the style sheet does not name."""
    group, role = QPalette.ColorGroup, QPalette.ColorRole
    made = QPalette(QColor(colours.surface))
    for each, colour in (
        (role.Window, colours.surface),
        (role.Base, colours.surface),
        (role.AlternateBase, colours.raised),
        (role.Button, colours.raised),
        (role.ToolTipBase, colours.raised),
        (role.WindowText, colours.text),
        (role.Text, colours.text),
        (role.ButtonText, colours.text),
        (role.ToolTipText, colours.text),
        (role.BrightText, colours.text),
        (role.PlaceholderText, colours.muted),
        (role.Highlight, colours.selection),
        (role.HighlightedText, colours.text),
        (role.Accent, colours.accent),
        (role.Link, colours.accent),
        (role.LinkVisited, colours.accent),
        (role.Mid, colours.line),
    ):
        made.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText):
        made.setColor(group.Disabled, each, QColor(colours.disabled))
    return made


def _with_even_digits(font: QFont) -> QFont:
    """Digits of one width, so that numbers below each other line up and do not dance."""
    even = QFont(font)
    even.setFeature(QFont.Tag("tnum"), 1)
    return even

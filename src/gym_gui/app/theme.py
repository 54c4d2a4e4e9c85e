"""Applies the colours of `ThemeModel` as palette and style sheet.

`apply_theme` is called once, at start-up. Custom-painted widgets read the colours from the model.
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

_IMAGES: tuple[tuple[str, IconName, str], ...] = (
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
"""Images that a style sheet reads from files: name, icon and colour."""
_LAYOUT_DELAY_MS = 60


def apply_theme(app: QApplication, theme: ThemeModel, window: QWidget) -> None:
    """Style `window` with `theme`, and follow its changes and those of the desktop."""
    _ThemeApplier(app, theme, window).apply()


class _ThemeApplier(QObject):
    """A child of the window.

    The style sheet is set on the window, not on the application: with the latter, Qt polishes all
    widgets of a new page again for each of its layouts, which takes twice as long.
    """

    def __init__(self, app: QApplication, theme: ThemeModel, window: QWidget) -> None:
        super().__init__(window)
        self._app = app
        self._window = window
        self._theme = theme
        self._folder = QTemporaryDir(QDir.tempPath() + "/mosaic-theme-XXXXXX")
        if app.style().objectName() != "fusion":
            app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(_with_tabular_digits(app.font()))
        hints = app.styleHints()
        self._on_desktop_changed(hints.colorScheme())
        hints.colorSchemeChanged.connect(self._on_desktop_changed)
        self._is_changing = False
        self._applied: Colours | None = None
        self._suspended: list[QWidget] = []
        theme.changed.connect(self._on_theme_changed)

    def apply(self) -> None:
        colours = self._applied = self._theme.colours
        self._app.setPalette(palette(colours))
        self._window.setStyleSheet(
            style_sheet(colours, self._app.font(), self._write_images(colours))
        )
        # After the layout is complete: earlier paints would be clipped.
        QTimer.singleShot(_LAYOUT_DELAY_MS, self, self._resume_updates)

    def _resume_updates(self) -> None:
        for window in self._suspended:
            if isValid(window):
                window.setUpdatesEnabled(True)
        self._suspended.clear()
        self._is_changing = False
        if self._theme.colours != self._applied:  # chosen while the previous theme was applied
            self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        """Change the style sheet in two steps, with updates of the windows suspended.

        When a style sheet replaces another one, Qt polishes every widget once for each of its
        ancestors, which takes a second. Removing the first one before avoids that.
        """
        if self._is_changing:
            return
        self._is_changing = True
        self._suspended = [
            window for window in self._app.topLevelWidgets() if window.updatesEnabled()
        ]
        for window in self._suspended:
            window.setUpdatesEnabled(False)
        self._window.setStyleSheet("")
        QTimer.singleShot(0, self, self.apply)

    def _on_desktop_changed(self, scheme: Qt.ColorScheme) -> None:
        self._theme.set_system_is_dark(scheme == Qt.ColorScheme.Dark)

    def _write_images(self, colours: Colours) -> dict[str, str]:
        """Write the images; the file names differ by theme, because Qt caches files."""
        folder = Path(self._folder.path())
        kind = "dark" if colours.is_dark else "light"
        urls = {}
        try:
            for name, icon, role in _IMAGES:
                file = folder / f"{name}-{kind}.svg"
                if not file.exists():
                    file.write_bytes(svg(icon, str(getattr(colours, role))))
                urls[name] = f'url("{file.as_posix()}")'
        except OSError as error:
            _log.warning("C310 cannot write the images of the style sheet: %s", error)
            return {name: "none" for name, _, _ in _IMAGES}
        return urls


def palette(colours: Colours) -> QPalette:
    """The palette for everything that the style sheet does not set."""
    group, role = QPalette.ColorGroup, QPalette.ColorRole
    result = QPalette(QColor(colours.surface))
    for colour_role, colour in (
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
        result.setColor(colour_role, QColor(colour))
    for colour_role in (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText):
        result.setColor(group.Disabled, colour_role, QColor(colours.disabled))
    return result


def _with_tabular_digits(font: QFont) -> QFont:
    """Digits of equal width, so that numbers in a column are aligned."""
    tabular = QFont(font)
    tabular.setFeature(QFont.Tag("tnum"), 1)
    return tabular

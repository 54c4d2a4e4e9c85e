"""Styling of widgets: blended colours, derived fonts, disabled controls and completer popups."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor, QFont, QFontDatabase
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

_ENABLED_TOOL_TIP = "enabledToolTip"
_FIXED_FONT_SCALE = 0.95
"""Fixed-width letters look larger than others of the same size."""


def blend(colour: str, background: str, opacity: float) -> QColor:
    """The opaque colour that results from painting `colour` with `opacity` on `background`."""
    above, below = QColor(colour), QColor(background)
    rest = 1.0 - opacity
    return QColor.fromRgbF(
        above.redF() * opacity + below.redF() * rest,
        above.greenF() * opacity + below.greenF() * rest,
        above.blueF() * opacity + below.blueF() * rest,
    )


def scaled_font(font: QFont, factor: float) -> QFont:
    result = QFont(font)
    if font.pointSizeF() > 0:
        result.setPointSizeF(font.pointSizeF() * factor)
    else:
        result.setPixelSize(max(1, round(font.pixelSize() * factor)))
    return result


def fixed_font(base: QFont) -> QFont:
    """The fixed-width font of the platform, sized to match `base`."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(base.pointSizeF() * _FIXED_FONT_SCALE)
    return font


def set_disabled_reason(control: QWidget, reason: str) -> None:
    """Disable `control` with `reason` as its tool tip. An empty reason enables it and restores
    its own tool tip."""
    saved = control.property(_ENABLED_TOOL_TIP)
    if reason:
        if saved is None:
            control.setProperty(_ENABLED_TOOL_TIP, control.toolTip())
        control.setToolTip(reason)
    elif saved is not None:
        control.setProperty(_ENABLED_TOOL_TIP, None)
        control.setToolTip(saved)
    control.setEnabled(not reason)


def style_popup(completer: QCompleter, line_edit: QLineEdit) -> None:
    """Give the completer's popup the style sheet of the window that contains `line_edit`.

    The popup is a top-level window, so it does not inherit the style sheet of ours.
    """
    line_edit.installEventFilter(_PopupStyle(completer, line_edit))


class _PopupStyle(QObject):
    def __init__(self, completer: QCompleter, line_edit: QLineEdit) -> None:
        super().__init__(line_edit)
        self._completer = completer
        self._line_edit = line_edit

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        # On focus, because the popup is measured when it opens.
        if event.type() == QEvent.Type.FocusIn:
            popup, sheet = self._completer.popup(), self._line_edit.window().styleSheet()
            if popup is not None and popup.styleSheet() != sheet:
                popup.setStyleSheet(sheet)
        return super().eventFilter(watched, event)

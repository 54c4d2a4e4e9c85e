"""The style sheet of the widgets, by class and by the properties `role` and `tone`.

Called by `theme.py`. Lengths come from the font; colours from the theme.
"""

from collections.abc import Mapping
from string import Template

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.styling import blend


def style_sheet(colours: Colours, font: QFont, images: Mapping[str, str]) -> str:
    """`images` are arrows and check marks as `url(…)`, by name."""
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    return _SHEET.substitute(
        _colour_values(colours)
        | _lengths(font)
        | {f"image_{name.replace('-', '_')}": url for name, url in images.items()}
        | {"mono": fixed.family()}
    )


def _colour_values(colours: Colours) -> dict[str, str]:
    """The colours of the theme, and blends of them."""
    named = {
        name: value
        for name in Colours.__slots__
        if isinstance(value := getattr(colours, name), str)
    }
    lighter = colours.text if colours.is_dark else colours.surface
    blends = {
        "edge": blend(colours.text, colours.line, 0.08),
        "hover": blend(colours.text, colours.raised, 0.05),
        "pressed": blend(colours.text, colours.raised, 0.11),
        "primary_hover": blend(lighter, colours.accent, 0.12),
        "primary_pressed": blend(colours.text, colours.accent, 0.18),
        "selected_hover": blend(colours.accent, colours.selection, 0.12),
        "danger_edge": blend(colours.bad, colours.line, 0.5),
        "danger_hover": blend(colours.bad, colours.raised, 0.14),
        "handle": blend(colours.muted, colours.surface, 0.4),
        "handle_hover": blend(colours.muted, colours.surface, 0.75),
        "row_line": blend(colours.line, colours.surface, 0.6),
        "row_hover": blend(colours.text, colours.surface, 0.035),
        "popup": blend(colours.raised, colours.surface, 0.5 if colours.is_dark else 0.0),
    }
    return named | {name: colour.name() for name, colour in blends.items()}


def _lengths(font: QFont) -> dict[str, str]:
    line = QFontMetricsF(font).height()
    size, unit = (
        (font.pointSizeF(), "pt") if font.pointSizeF() > 0 else (float(font.pixelSize()), "px")
    )
    pixels = {
        "hair": 0.15,
        "quarter": 0.25,
        "third": 0.34,
        "half": 0.5,
        "two_thirds": 0.67,
        "full": 1.0,
        "field": 1.15,
        "bar": 0.62,
        "arrow": 0.8,
        "knob": 0.95,
        "box": 0.95,
        "row": 1.7,
        "spin": 1.25,
        "title_button": 1.3,
    }
    lengths = {name: f"{max(1, round(line * share))}px" for name, share in pixels.items()}
    # Padding next to a focus ring, which is one pixel wider than a border.
    for name in ("third", "half", "two_thirds", "hair", "quarter"):
        lengths[f"{name}_less"] = f"{max(0, round(line * pixels[name]) - 1)}px"
    # Even, so that a knob with a border of 2 is centred on a groove of 4.
    knob = 2 * round(line / 2)
    lengths |= {
        "knob_inside": f"{knob - 4}px",
        "knob_out": f"-{(knob - 4) // 2}px",
        "knob_round": f"{knob // 2}px",
        "scroll": f"{max(10, round(line * 0.7))}px",
        "scroll_round": f"{(max(10, round(line * 0.7)) - 4) // 2}px",
        "radio_round": f"{(round(line * 0.95) + 2) // 2}px",
    }
    return lengths | {
        "title_icon": f"{round(line)}px {round(line)}px",
        "small": f"{size * 0.89:.2f}{unit}",
        "plain": f"{size:.2f}{unit}",
        "large": f"{size * 1.12:.2f}{unit}",
        "title": f"{size * 1.9:.2f}{unit}",
    }


_SHEET = Template("""
QMainWindow, QDialog { background: $surface; }
QMainWindow::separator { background: $line; width: 1px; height: 1px; margin: 0 2px; }
QMainWindow::separator:horizontal { margin: 2px 0; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; margin: 0 2px; }
QSplitter::handle:vertical { height: 1px; margin: 2px 0; }
QSplitter::handle:hover { background: $accent; }

QDockWidget { titlebar-close-icon: $image_close; titlebar-normal-icon: $image_float; }
QDockWidget::title {
    background: $surface; color: $text; text-align: left;
    padding: $third $half; border: none;
}
QDockWidget::close-button, QDockWidget::float-button {
    background: transparent; border: none; border-radius: 4px; padding: 0;
    width: $title_button; height: $title_button;
}
QDockWidgetTitleButton { qproperty-iconSize: $title_icon; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $raised; }

QTabWidget::pane { border: none; border-top: 1px solid $line; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted; border: none;
    padding: $half $two_thirds; margin: 0 $hair;
    border-bottom: 2px solid transparent;
}
QTabBar[role="tight"]::tab { padding: $half $third; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:disabled { color: $disabled; }
QTabBar::tab:selected:focus { background: $selection; }
QTabBar::tab:bottom { border-bottom: none; border-top: 2px solid transparent; }
QTabBar::tab:bottom:selected { border-top-color: $accent; }
QTabBar::close-button { image: $image_close; border-radius: 4px; }
QTabBar::close-button:hover { background: $raised; }
QTabBar::scroller { width: $row; }
QTabBar QToolButton { background: $surface; border: none; }
QTabBar QToolButton::right-arrow { image: $image_right; }
QTabBar QToolButton::left-arrow { image: $image_left; }

QLabel[role="heading"] { font-size: $large; font-weight: 600; color: $text; }
QLabel[role="title"] { font-size: $title; font-weight: 600; color: $text; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="caption"] { color: $muted; font-size: $small; }
QLabel[role="value"] { color: $text; }
QLabel[role="mono"] { font-family: "$mono"; }
QLabel[tone="good"] { color: $good; }
QLabel[tone="warning"] { color: $warning; }
QLabel[tone="bad"] { color: $bad; }
QLabel:disabled { color: $disabled; }
QFrame[role="card"] { background: $raised; border: 1px solid $line; border-radius: 8px; }

QPushButton {
    background: $raised; color: $text; border: 1px solid $edge; border-radius: 6px;
    padding: $third $two_thirds; min-height: $field;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:checked { background: $selection; border-color: $accent; }
QPushButton:focus {
    border: 2px solid $accent; padding: $third_less $two_thirds_less; outline: none;
}
QPushButton:disabled { color: $disabled; border-color: $line; }
QPushButton[role="primary"] {
    background: $accent; color: $on_accent; border-color: $accent; font-weight: 600;
}
QPushButton[role="primary"]:hover { background: $primary_hover; border-color: $primary_hover; }
QPushButton[role="primary"]:pressed { background: $primary_pressed; }
QPushButton[role="primary"]:focus { border-color: $text; }
QPushButton[role="primary"]:disabled {
    background: $raised; color: $disabled; border-color: $line;
}
QPushButton[role="quiet"] { background: transparent; border-color: transparent; }
QPushButton[role="quiet"]:hover { background: $raised; }
QPushButton[role="quiet"]:pressed { background: $pressed; }
QPushButton[role="quiet"]:checked { background: $selection; }
QPushButton[role="quiet"]:focus { border-color: $accent; }
QPushButton[role="danger"] { color: $bad; border-color: $danger_edge; }
QPushButton[role="danger"]:hover { background: $danger_hover; }
QPushButton[role="danger"]:focus { border-color: $bad; }
QPushButton[role="danger"]:disabled { color: $disabled; border-color: $line; }
QPushButton::menu-indicator {
    image: $image_down; width: $bar; height: $bar;
    subcontrol-origin: padding; subcontrol-position: center right; right: $third;
}

QToolButton {
    background: transparent; color: $text; border: 1px solid transparent; border-radius: 5px;
    padding: $hair $quarter;
}
QToolButton:hover { background: $raised; }
QToolButton:pressed { background: $pressed; }
QToolButton:checked { background: $selection; border-color: $accent; }
QToolButton:focus { border: 2px solid $accent; padding: $hair_less $quarter_less; }
QToolButton:disabled { color: $disabled; }
QToolButton[role="primary"] {
    background: $accent; color: $on_accent; border-color: $accent; font-weight: 600;
}
QToolButton[role="primary"]:hover { background: $primary_hover; }
QToolButton[role="primary"]:focus { border-color: $text; }
QToolButton[role="primary"]:disabled {
    background: $raised; color: $disabled; border-color: $line;
}
QToolButton[role="danger"] { color: $bad; }
QToolButton[role="danger"]:hover { background: $danger_hover; }
QToolButton::menu-indicator { image: none; }
QToolButton[popupMode="1"] { padding-right: $full; }
QToolButton::menu-button { border: none; width: $full; }
QToolButton::menu-arrow { image: $image_down; width: $bar; height: $bar; }

QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit, QTextEdit, QKeySequenceEdit {
    background: $raised; color: $text; border: 1px solid $edge; border-radius: 6px;
    selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit, QAbstractSpinBox, QComboBox {
    padding: $third $half; min-height: $field; max-height: $field;
}
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { border-color: $handle; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on, QPlainTextEdit:focus,
QTextEdit:focus { border: 2px solid $accent; background: $surface; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on {
    padding: $third_less $half_less;
}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled, QPlainTextEdit:disabled,
QTextEdit:disabled { color: $disabled; border-color: $line; background: $surface; }
QLineEdit[tone="bad"], QAbstractSpinBox[tone="bad"], QComboBox[tone="bad"] { border-color: $bad; }
QLineEdit[tone="warning"], QAbstractSpinBox[tone="warning"] { border-color: $warning; }
QAbstractSpinBox { qproperty-alignment: 'AlignRight | AlignVCenter'; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    background: transparent; border: none; width: $spin;
}
QAbstractSpinBox::up-button { margin: 2px 2px 0 0; }
QAbstractSpinBox::down-button { margin: 0 2px 2px 0; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {
    background: $pressed; border-radius: 3px;
}
QAbstractSpinBox::up-arrow { image: $image_up; width: $arrow; height: $arrow; }
QAbstractSpinBox::down-arrow { image: $image_down; width: $arrow; height: $arrow; }
QAbstractSpinBox::up-arrow:disabled, QAbstractSpinBox::up-arrow:off {
    image: $image_up_disabled;
}
QAbstractSpinBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:off {
    image: $image_down_disabled;
}

QComboBox { combobox-popup: 0; }
QComboBox::drop-down {
    border: none; width: $row; subcontrol-origin: padding; subcontrol-position: center right;
}
QComboBox::down-arrow { image: $image_down; width: $knob; height: $knob; }
QComboBox::down-arrow:disabled { image: $image_down_disabled; }
QComboBox QAbstractItemView {
    background: $popup; border: 1px solid $edge; border-radius: 6px; padding: $hair; outline: none;
    selection-background-color: $selection; selection-color: $text;
}
QComboBox QAbstractItemView::item { min-height: $row; padding: 0 $quarter; border: none; }

QCheckBox, QRadioButton { spacing: $half; padding: $hair 0; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: $disabled; }
QCheckBox::indicator, QRadioButton::indicator, QGroupBox::indicator,
QAbstractItemView::indicator {
    width: $box; height: $box; border: 1px solid $handle_hover; background: $raised;
}
QCheckBox::indicator, QGroupBox::indicator, QAbstractItemView::indicator { border-radius: 4px; }
QRadioButton::indicator { border-radius: $radio_round; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $accent; }
QCheckBox::indicator:checked, QGroupBox::indicator:checked, QAbstractItemView::indicator:checked {
    background: $accent; border-color: $accent; image: $image_check;
}
QCheckBox::indicator:indeterminate {
    background: $accent; border-color: $accent; image: $image_dash;
}
QCheckBox::indicator:checked:focus { border-color: $text; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {
    border-color: $line; background: $surface;
}
QCheckBox::indicator:checked:disabled {
    background: $raised; border-color: $line; image: $image_check_disabled;
}
QRadioButton::indicator:checked {
    border-color: $accent;
    background: qradialgradient(cx: 0.5, cy: 0.5, fx: 0.5, fy: 0.5, radius: 0.5,
        stop: 0 $accent, stop: 0.55 $accent, stop: 0.62 $surface, stop: 1 $surface);
}

QSlider { background: transparent; min-height: $row; }
QSlider:vertical { min-width: $row; }
QSlider::groove:horizontal { height: 4px; background: $line; border-radius: 2px; }
QSlider::groove:vertical { width: 4px; background: $line; border-radius: 2px; }
QSlider::sub-page:horizontal, QSlider::add-page:vertical {
    background: $accent; border-radius: 2px;
}
QSlider::handle {
    background: $surface; border: 2px solid $accent; border-radius: $knob_round;
}
QSlider::handle:horizontal { width: $knob_inside; margin: $knob_out 0; }
QSlider::handle:vertical { height: $knob_inside; margin: 0 $knob_out; }
QSlider::handle:hover { background: $accent; }
QSlider::handle:focus { background: $accent; border-color: $text; }
QSlider::handle:disabled { border-color: $disabled; }
QSlider::sub-page:disabled, QSlider::add-page:vertical:disabled { background: $disabled; }

QProgressBar {
    background: $line; border: none; border-radius: 3px; min-height: 6px; max-height: 6px;
    color: transparent; font-size: 1px;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QProgressBar[tone="good"]::chunk { background: $good; }
QProgressBar[tone="warning"]::chunk { background: $warning; }
QProgressBar[tone="bad"]::chunk { background: $bad; }

QAbstractItemView {
    background: $surface; alternate-background-color: $raised; color: $text;
    border: 1px solid transparent; outline: none;
    selection-background-color: $selection; selection-color: $text;
}
QAbstractItemView:focus { border-color: $accent; }
QTableView { qproperty-showGrid: false; gridline-color: transparent; }
QTableView::item, QTreeView::item, QListView::item { padding: 0 $third; border: none; }
QTableView::item, QTreeView::item { border-bottom: 1px solid $row_line; }
QListView::item { min-height: $row; border-radius: 4px; }
QTableView::item:hover, QTreeView::item:hover, QListView::item:hover { background: $row_hover; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {
    background: $selection; color: $text;
}
QTableView::item:selected:hover, QListView::item:selected:hover { background: $selected_hover; }
QTreeView::branch { background: $surface; border: none; }
QTreeView::branch:selected { background: $selection; }
QTreeView::branch:closed:has-children { image: $image_right; }
QTreeView::branch:open:has-children { image: $image_down; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section {
    background: $surface; color: $muted; font-size: $small; border: none;
    border-bottom: 1px solid $line; padding: $third $third;
}
QHeaderView::section:checked { font-weight: normal; }
QHeaderView::section:hover { color: $text; }
QHeaderView::up-arrow { image: $image_up; width: $arrow; height: $arrow; }
QHeaderView::down-arrow { image: $image_down; width: $arrow; height: $arrow; }
QTableCornerButton::section { background: $surface; border: none; }

QScrollArea, QStackedWidget { border: none; background: transparent; }
QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: $scroll; }
QScrollBar:horizontal { height: $scroll; }
QScrollBar::handle { background: $handle; border-radius: $scroll_round; margin: 2px; }
QScrollBar::handle:vertical { min-height: $row; }
QScrollBar::handle:horizontal { min-width: $row; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $handle_hover; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }

QMenuBar { background: $surface; color: $muted; border-bottom: 1px solid $line; }
QMenuBar::item { background: transparent; padding: $third $half; border-radius: 4px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $raised; color: $text; }
QMenuBar QPushButton, QPushButton[role="compact"] { min-height: 0; padding: 0; }
QMenu { background: $popup; color: $text; border: 1px solid $edge; padding: $quarter; }
QMenu::item { padding: $third $full $third $half; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: $half; }
QMenu::separator { height: 1px; background: $line; margin: $quarter $half; }
QMenu::indicator { width: $box; height: $box; margin-left: $third; }
QMenu::indicator:checked { image: $image_check_menu; }
QMenu::right-arrow { image: $image_right; width: $knob; height: $knob; margin-right: $quarter; }
QToolTip {
    background: $popup; color: $text; border: 1px solid $edge; padding: $quarter;
}

QToolBar { background: $surface; border: none; spacing: $quarter; padding: $quarter; }
QToolBar::separator { background: $line; width: 1px; margin: $quarter; }
QToolBarExtension { qproperty-icon: $image_more; }
QStatusBar { background: $surface; color: $muted; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
QGroupBox {
    border: 1px solid $line; border-radius: 8px; margin-top: $full; padding: $half;
}
QGroupBox::title { subcontrol-origin: margin; left: $half; padding: 0 $quarter; color: $muted; }
""")

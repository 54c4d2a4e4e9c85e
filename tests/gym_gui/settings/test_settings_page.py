"""The settings page with a real daemon behind it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.settings_model import SettingsModel
from gym_gui.settings.view.secret_row import SecretRow
from gym_gui.settings.view.settings_page import SettingsPage, StorageSection
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = [
    pytest.mark.process,
    # Not supported by the offscreen platform.
    pytest.mark.qt_log_ignore("propagateSizeHints", extend=True),
]

VALUE = "f00dfeed-0123456789-do-not-tell"


def test_keys_and_limits_are_set_by_keyboard(
    services: Services, theme: ThemeModel, qtbot: QtBot
) -> None:
    """A key is masked and not stored; errors are shown beside the field."""
    model = SettingsModel(services, theme)
    page = SettingsPage(model, theme, [("Command palette", "Ctrl+Shift+P")])
    qtbot.addWidget(page)
    page.resize(1024, 700)
    page.show()
    qtbot.waitUntil(lambda: len(page.findChildren(SecretRow)) >= 4, timeout=TIMEOUT_MS)

    row = next(row for row in page.findChildren(SecretRow) if row._name == "OPENAI_API_KEY")
    row._set.click()
    field = row._input._edit
    assert field.echoMode() == QLineEdit.EchoMode.Password
    QTest.keyClicks(field, VALUE)
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: row._badge.text() == "set", timeout=TIMEOUT_MS)
    assert all(VALUE not in edit.text() for edit in page.findChildren(QLineEdit))
    row._remove.button.click()
    row._remove._yes.click()
    qtbot.waitUntil(lambda: row._badge.text() == "not set", timeout=TIMEOUT_MS)

    limit = page.findChildren(StorageSection)[0]._fields[0]
    qtbot.waitUntil(limit.isEnabled, timeout=TIMEOUT_MS)
    QTest.keyClicks(limit.box.lineEdit(), "lots")
    QTest.keyClick(limit.box, Qt.Key.Key_Return)
    assert "Enter a number" in limit.problem
    limit.box.lineEdit().setText("12.5")
    QTest.keyClick(limit.box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: model.stored("retention_max_gb") == 12.5, timeout=TIMEOUT_MS)
    assert limit.problem == ""

    for kind in (QLineEdit, QAbstractSpinBox, QComboBox):
        for widget in page.findChildren(kind):
            parent = widget.parent()
            assert widget.accessibleName() or isinstance(parent, QAbstractSpinBox)

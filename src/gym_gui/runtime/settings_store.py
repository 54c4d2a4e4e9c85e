"""SettingsStore: persistent settings of the window, in an INI file of the home."""

from typing import Any, Protocol

from PySide6.QtCore import QByteArray, QObject, QSettings

from mosaic.contract.layout import Home

MINIMAL_TELEMETRY_KEY = "telemetry/minimal"
"""Prefix; followed by `/` and a worker id: whether its runs start with minimal telemetry."""


class TextSettings(Protocol):
    """Persistent text by key; implemented by `SettingsStore`."""

    def text(self, key: str, default: str = "") -> str: ...
    def set(self, key: str, value: str) -> None: ...


class Settings(TextSettings, Protocol):
    """Persistent values by key; implemented by `SettingsStore`."""

    def number(self, key: str, default: int) -> int: ...
    def flag(self, key: str, default: bool) -> bool: ...
    def set(self, key: str, value: str | int | bool) -> None: ...


class SettingsStore(QObject):
    """Created once, by the wiring."""

    def __init__(self, home: Home, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = QSettings(str(home.path / "window.ini"), QSettings.Format.IniFormat, self)

    def text(self, key: str, default: str = "") -> str:
        value = self._settings.value(key, default)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: int) -> int:
        try:
            return int(self.text(key, str(default)))
        except ValueError:
            return default

    def flag(self, key: str, default: bool) -> bool:
        return self.text(key, "yes" if default else "no") == "yes"

    def blob(self, key: str) -> QByteArray:
        value = self._settings.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def set(self, key: str, value: str | int | bool | QByteArray) -> None:
        stored: Any = value
        if isinstance(value, bool):
            stored = "yes" if value else "no"
        elif isinstance(value, int):
            stored = str(value)
        self._settings.setValue(key, stored)

    def remove(self, group: str) -> None:
        self._settings.remove(group)

    def save(self) -> None:
        self._settings.sync()

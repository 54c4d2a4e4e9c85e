"""EmbeddedChoice: the setting whether TensorBoard and W&B pages open in the window.

The browser is the default: embedding needs Qt WebEngine, which only the extra `web` installs.
"""

from importlib.util import find_spec

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.settings_store import TextSettings

_KEY = "analytics/embedded"
NOT_INSTALLED = (
    "Needs Qt WebEngine, which is not installed: run `pip install 'mosaic-workbench[web]'` "
    "and restart the window."
)


class EmbeddedChoice(QObject):
    """Checks for WebEngine without importing it."""

    changed = Signal()

    def __init__(self, settings: TextSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        is_installed = find_spec("PySide6.QtWebEngineWidgets") is not None
        self.disabled_reason = "" if is_installed else NOT_INSTALLED
        """Why pages cannot open in the window; empty if they can."""

    @property
    def is_on(self) -> bool:
        return not self.disabled_reason and self._settings.text(_KEY, "no") == "yes"

    def set_on(self, is_on: bool) -> None:
        if is_on != self.is_on and not self.disabled_reason:
            self._settings.set(_KEY, "yes" if is_on else "no")
            self.changed.emit()

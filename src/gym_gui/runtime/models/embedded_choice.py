"""EmbeddedChoice: whether pages of TensorBoard and W&B open inside the window or in the browser.

The browser stays the default. Inside needs Qt's WebEngine, which only the extra `web` installs.
"""

from importlib.util import find_spec

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.settings_store import TextSettings

_KEY = "analytics/embedded"
NOT_INSTALLED = (
    "Needs Qt WebEngine, which is not installed: run `pip install 'mosaic-workbench[web]'` "
    "and start the window again."
)


class EmbeddedChoice(QObject):
    """Cheap to make: nothing of WebEngine is imported to see whether it is there."""

    changed = Signal()

    def __init__(self, settings: TextSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        is_there = find_spec("PySide6.QtWebEngineWidgets") is not None
        self.why_not = "" if is_there else NOT_INSTALLED
        """Why pages cannot open inside the window; empty when they can."""

    @property
    def is_on(self) -> bool:
        return not self.why_not and self._settings.text(_KEY, "no") == "yes"

    def choose(self, is_on: bool) -> None:
        if is_on != self.is_on and not self.why_not:
            self._settings.set(_KEY, "yes" if is_on else "no")
            self.changed.emit()

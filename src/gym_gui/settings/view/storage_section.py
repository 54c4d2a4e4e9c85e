"""Storage: how much is kept and for how long, what could be freed, and the replay cache."""

from PySide6.QtWidgets import QWidget

from gym_gui.settings.model.daemon_fields import STORAGE_FIELDS
from gym_gui.settings.model.settings_model import CACHE_FIELD, SettingsModel, size_text
from gym_gui.settings.view.confirm_strip import ConfirmStrip
from gym_gui.settings.view.field_row import FieldRow, NumberField
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_NOT_KNOWN = "The daemon does not answer: its settings are not known."


class StorageSection(SectionFrame):
    def __init__(self, model: SettingsModel, parent: QWidget | None = None) -> None:
        super().__init__("Storage", parent=parent)
        self._model = model
        self._fields = [NumberField(field) for field in STORAGE_FIELDS]
        for row in self._fields:
            row.box.editingFinished.connect(
                lambda row=row: model.set_daemon_value(row.field, row.box.value)
            )
            self.add(row)
        self._free = ConfirmStrip("Free now…", "", "Free it")
        self._free.confirmed.connect(model.free_now)
        self._free_row = FieldRow("Over the limits", self._free, fills=True)
        self.add(self._free_row)
        self._cache = NumberField(CACHE_FIELD)
        self._cache.box.editingFinished.connect(lambda: model.set_cache_mb(self._cache.box.value))
        self.add(self._cache)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._model
        for row in self._fields:
            set_disabled_reason(row, "" if model.daemon is not None else _NOT_KNOWN)
            row.show_value(model.stored(row.field.name), model.problems.get(row.field.name, ""))
        self._cache.show_value(model.cache_mb, model.problems.get(CACHE_FIELD.name, ""))
        retention = model.retention
        items = 0 if retention is None else retention.prunable_items
        size = size_text(0 if retention is None else retention.prunable_bytes)
        going = "Files are being removed." if model.is_freeing else ""
        set_disabled_reason(
            self._free, going or ("" if items else "No run that is over has anything to spare.")
        )
        self._free.button.setText(f"Free {size}…" if items else "Nothing to free")
        self._free.set_question(
            f"Remove {items:,} files of {size}: videos, older checkpoints and tracking folders of"
            " runs that are over? This cannot be undone."
        )

"""`settings.toml` of a home: changed by the settings of the window, or by hand.

The service changes it through `SettingsFile`. What a person wrote into it stays: comments, order,
and the settings that nobody asked to change.
"""

import re
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.daemon_settings import SettingValues
from mosaic.contract.errors import UserError
from mosaic.trainer.settings import settings_of

Number = int | float

CHANGEABLE = SettingValues.__struct_fields__
AFTER_RESTART = tuple(name for name in CHANGEABLE if not name.startswith("retention_"))
"""What is asked for once, when the daemon starts."""


class SettingsFile:
    """Of one home. Blocking; safe from any thread. Made when the daemon starts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._at_start = self.stored()

    def stored(self) -> SettingValues:
        """What the file says; None where it is silent. Raises `UserError`."""
        document = tomllib.loads(self._text())
        settings_of(document, self._path)  # it may have been edited since the daemon started
        return SettingValues(**{name: document.get(name) for name in CHANGEABLE})

    def waiting(self) -> tuple[str, ...]:
        """What was changed since the daemon started, and takes effect when it starts again."""
        now = self.stored()
        return tuple(
            name for name in AFTER_RESTART if getattr(now, name) != getattr(self._at_start, name)
        )

    def change(self, values: Mapping[str, Number | None]) -> None:
        """Set these, and remove those that are None; all or nothing. Raises `UserError`."""
        with self._lock:
            before = self._text()
            text = before
            for name, value in values.items():
                text = _with_setting(text, name, value)
            wanted = {**tomllib.loads(before), **values}
            if tomllib.loads(text) != {k: v for k, v in wanted.items() if v is not None}:
                raise UserError(
                    f"{self._path} is written in a way that cannot be changed from here.",
                    remedy="Write each setting on a line of its own as NAME = VALUE, or edit it.",
                    code="T466",
                )
            settings_of(tomllib.loads(text), self._path)
            if text != before:
                # A link, to a file that is kept elsewhere, stays one.
                write_atomically(self._path.resolve(), text.encode())

    def is_possible(self, name: str, value: Number) -> bool:
        """Whether a daemon would start with this value, whatever else the file says."""
        try:
            settings_of({name: value}, self._path)
        except UserError:
            return False
        return True

    def _text(self) -> str:
        try:
            text = self._path.read_bytes().decode("utf-8")  # its line ends stay as they are
            tomllib.loads(text)
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise UserError(
                f"{self._path} cannot be read: {error}.",
                remedy="Correct it in an editor, or remove it to go back to the defaults.",
                code="T467",
            ) from error
        return text


def _with_setting(text: str, name: str, value: Number | None) -> str:
    """`text` with the value of one line replaced, the line removed, or one added at the end."""
    line = re.compile(
        rf"^(?P<head>[ \t]*(?P<quote>[\"']?){name}(?P=quote)[ \t]*=[ \t]*)"
        r"(?P<value>[^#\r\n]*?)(?P<tail>[ \t]*(?:#[^\r\n]*)?)(?P<end>\r?\n|\Z)",
        re.MULTILINE,
    )
    if value is None:
        return line.sub("", text, count=1)
    written = repr(value)
    if line.search(text):
        return line.sub(
            lambda found: f"{found['head']}{written}{found['tail']}{found['end']}", text, count=1
        )
    separator = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{separator}{name} = {written}\n"

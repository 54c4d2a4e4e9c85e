"""Settings of the daemon and their defaults: `settings.toml`, with overrides of the command line.

Clients see a part of them: `mosaic.contract.settings_view`.
"""

import os
import re
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.settings_view import SettingValues

DEFAULT_PORT = 50055
_MAX_MB = 1 << 40
"""More than any machine has; in bytes it still fits 64 bits."""


class DaemonSettings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The defaults suit a laptop."""

    host: str | None = None
    """TCP address to listen on. None: 127.0.0.1 with a port or TLS, else a Unix domain socket."""
    port: Annotated[int, Meta(ge=0, le=65535)] | None = None
    """TCP port. None, with a host: 50055, or any free port if that is in use. 0: any free port."""
    tls_certificate: str | None = None
    tls_key: str | None = None
    max_runs: Annotated[int, Meta(ge=1, le=10_000)] = 64
    """Maximum number of runs with a process."""
    cpus: Annotated[int, Meta(ge=1, le=4096)] = os.cpu_count() or 1
    """Total number of CPUs that runs may request."""
    memory_mb: Annotated[int, Meta(ge=1, le=_MAX_MB)] | None = None
    """Total memory that runs may request; None: what the machine has."""
    stop_grace_s: Annotated[float, Meta(ge=0, le=3600)] = 10.0
    """Between `stop` and SIGTERM, and again between SIGTERM and SIGKILL."""
    store_timeout_s: Annotated[float, Meta(gt=0, le=3600)] = 30.0
    """How long the end of a run waits until its telemetry is stored; the rest is stored later."""
    stalled_after_s: Annotated[float, Meta(gt=0)] = 30.0
    """A run without a heartbeat for this long gets a warning."""
    replay_timeout_s: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    """A replay that does not respond to a request for this long is killed."""
    worker_folders: tuple[str, ...] = ()
    """Additional folders with workers, besides the checkout's own and installed ones."""
    min_free_disk_mb: Annotated[int, Meta(ge=0, le=_MAX_MB)] = 200
    """No run starts with less free disk space."""
    retention_max_gb: Annotated[float, Meta(ge=0)] | None = None
    """Maximum size of the home without its bundles, in 10^9 bytes; None: no limit. Nothing is
    removed automatically: `Prune` frees what exceeds it."""
    retention_keep_days: Annotated[float, Meta(ge=0)] | None = None
    """A run's artifacts may be pruned this long after its end; None: never."""

    @property
    def uses_tcp(self) -> bool:
        """Whether TCP was requested; the default is a Unix domain socket."""
        tcp_settings = (self.host, self.port, self.tls_certificate, self.tls_key)
        return any(value is not None for value in tcp_settings)

    @property
    def own_worker_folders(self) -> tuple[Path, ...]:
        return tuple(Path(folder).expanduser() for folder in self.worker_folders)


_FORMER_NAMES = {"replay_patience_s": "replay_timeout_s"}
"""Settings that were renamed; files may still have the former name."""


def load_settings(path: Path, overrides: dict[str, Any]) -> DaemonSettings:
    """The settings in the file, if it exists, with the overrides that are not None."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise _invalid(path, error) from error
    document |= {name: value for name, value in overrides.items() if value is not None}
    return parse_settings(document, path)


def parse_settings(document: Mapping[str, Any], path: Path) -> DaemonSettings:
    """The settings in the document of `path`. Raises `UserError` T301 if they are invalid."""
    current = {_FORMER_NAMES.get(name, name): value for name, value in document.items()}
    try:
        return msgspec.convert(current, DaemonSettings)
    except msgspec.ValidationError as error:
        raise _invalid(path, error) from error


def _invalid(path: Path, error: Exception) -> UserError:
    return UserError(
        f"The daemon's settings are invalid: {error}.",
        remedy=f"Correct or remove {path}, or the option of that name.",
        code="T301",
    )


prebuild_decoders(DaemonSettings)


Number = int | float

CHANGEABLE = SettingValues.__struct_fields__
AFTER_RESTART = tuple(name for name in CHANGEABLE if not name.startswith("retention_"))
"""Settings that are read once, when the daemon starts."""


class SettingsFile:
    """`settings.toml` of one home, changed by the window or by hand.

    Comments, order and other settings stay unchanged. Created when the daemon starts. Blocking;
    safe from any thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._initial = self.stored()

    def stored(self) -> SettingValues:
        """The values in the file; None for those it does not set. Raises `UserError`."""
        document = tomllib.loads(self._text())
        parse_settings(document, self._path)  # validates manual edits
        return SettingValues(**{name: document.get(name) for name in CHANGEABLE})

    def pending(self) -> tuple[str, ...]:
        """The settings that were changed and take effect after a restart."""
        now = self.stored()
        return tuple(
            name for name in AFTER_RESTART if getattr(now, name) != getattr(self._initial, name)
        )

    def change(self, values: Mapping[str, Number | None]) -> None:
        """Set these values, and remove those that are None; all or nothing. Raises `UserError`."""
        with self._lock:
            before = self._text()
            text = before
            for name, value in values.items():
                text = _replace_setting(text, name, value)
            expected = {**tomllib.loads(before), **values}
            if tomllib.loads(text) != {k: v for k, v in expected.items() if v is not None}:
                raise UserError(
                    f"{self._path} has a format that cannot be changed automatically.",
                    remedy="Write each setting on its own line as NAME = VALUE, or edit the file.",
                    code="T466",
                )
            parse_settings(tomllib.loads(text), self._path)
            if text != before:
                # A symbolic link stays one.
                write_atomically(self._path.resolve(), text.encode())

    def is_valid(self, name: str, value: Number) -> bool:
        """Whether the value is valid for this setting."""
        try:
            parse_settings({name: value}, self._path)
        except UserError:
            return False
        return True

    def _text(self) -> str:
        try:
            text = self._path.read_bytes().decode("utf-8")  # keeps its line endings
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


def _replace_setting(text: str, name: str, value: Number | None) -> str:
    """`text` with the value of one line replaced, the line removed, or one added at the end."""
    line = re.compile(
        rf"^(?P<head>[ \t]*(?P<quote>[\"']?){name}(?P=quote)[ \t]*=[ \t]*)"
        r"(?P<value>[^#\r\n]*?)(?P<tail>[ \t]*(?:#[^\r\n]*)?)(?P<end>\r?\n|\Z)",
        re.MULTILINE,
    )
    if value is None:
        return line.sub("", text, count=1)
    literal = repr(value)
    if line.search(text):
        return line.sub(
            lambda match: f"{match['head']}{literal}{match['tail']}{match['end']}", text, count=1
        )
    separator = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{separator}{name} = {literal}\n"

"""How a daemon is to behave: `settings.toml` in the home, and what the command line says."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders

DEFAULT_PORT = 50055
_MOST_MB = 1 << 40
"""More than any machine has; as bytes it still fits 64 bits."""


class DaemonSettings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Each has a default that suits a laptop."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] | None = None
    """None: 50055, or any free one when that is taken. 0: any free one."""
    tls_certificate: str | None = None
    tls_key: str | None = None
    max_runs: Annotated[int, Meta(ge=1, le=10_000)] = 64
    """How many runs may have a process at once."""
    cpus: Annotated[int, Meta(ge=1, le=4096)] = os.cpu_count() or 1
    """How many CPUs runs may ask for together."""
    memory_mb: Annotated[int, Meta(ge=1, le=_MOST_MB)] | None = None
    """How much memory runs may ask for together; None: what the machine has."""
    stop_grace_s: Annotated[float, Meta(ge=0, le=3600)] = 10.0
    """Between `stop` and SIGTERM, and again between SIGTERM and SIGKILL."""
    stalled_after_s: Annotated[float, Meta(gt=0)] = 30.0
    """Without a heartbeat for so long, a run gets a warning."""
    replay_patience_s: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    """A replay that is silent for so long while something is asked of it is ended."""
    worker_folders: tuple[str, ...] = ()
    """Where to look for workers besides the checkout's own and installed ones."""
    min_free_disk_mb: Annotated[int, Meta(ge=0, le=_MOST_MB)] = 200
    """With less than this on the disk no run is started."""
    retention_max_gb: Annotated[float, Meta(ge=0)] | None = None
    """As much as the home may take without its bundles, in 10^9 bytes; None: no limit. Nothing is
    removed by itself: `Prune` frees what is above it."""
    retention_keep_days: Annotated[float, Meta(ge=0)] | None = None
    """So long after its end, a run's artifacts may be pruned; None: they are kept for ever."""

    @property
    def own_worker_folders(self) -> tuple[Path, ...]:
        return tuple(Path(folder).expanduser() for folder in self.worker_folders)


def load_settings(path: Path, overrides: dict[str, Any]) -> DaemonSettings:
    """The settings in the file, if there is one, with those overrides that are not None."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise _wrong(path, error) from error
    document |= {name: value for name, value in overrides.items() if value is not None}
    return settings_of(document, path)


def settings_of(document: Mapping[str, Any], path: Path) -> DaemonSettings:
    """What the document of `path` says. Raises `UserError` T301 where no daemon can go by it."""
    try:
        return msgspec.convert(document, DaemonSettings)
    except msgspec.ValidationError as error:
        raise _wrong(path, error) from error


def _wrong(path: Path, error: Exception) -> UserError:
    return UserError(
        f"The daemon's settings are wrong: {error}.",
        remedy=f"Correct or remove {path}, or the option of that name.",
        code="T301",
    )


prebuild_decoders(DaemonSettings)

"""ThumbnailCache: thumbnails of environments, rendered once by the daemon and cached as PNG files.

The picker requests those that are visible; they are fetched one at a time. A cached thumbnail is
available at the next start, before a daemon is connected.
"""

import hashlib
import io
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import create_private_folder

if TYPE_CHECKING:
    from mosaic.client import TrainerClient
    from mosaic.client.results import EnvironmentThumbnail

_log = logging.getLogger(__name__)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_SIDE_PX = 320
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


class ThumbnailCache(QObject):
    """Created once at start-up. UI thread only."""

    arrived = Signal(str)
    """The thumbnail of this environment is available, or rendering it failed."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._folder = link.home.cache / "pictures"
        self._pngs: dict[str, bytes] = {}
        self._problems: dict[str, UserError] = {}
        self._requested: list[str] = []
        self._not_cached: set[str] = set()
        """Not in the cache, and no daemon was connected to render them."""
        self._fetching = ""
        link.connected.connect(self._fetch_next)
        link.recovered.connect(self.try_again)

    def png(self, env_id: str) -> bytes | None:
        """None: not fetched yet, or rendering failed; call `request` to fetch it."""
        return self._pngs.get(env_id)

    def problem(self, env_id: str) -> UserError | None:
        """Why there is no thumbnail of it."""
        return self._problems.get(env_id)

    def request(self, env_ids: Iterable[str]) -> None:
        """Fetch these, which are visible now. Replaces the previous request."""
        self._requested = [env_id for env_id in env_ids if not self._is_known(env_id)]
        self._fetch_next()

    def try_again(self) -> None:
        """Retry failed thumbnails: packages were installed, or the daemon is back."""
        self._problems.clear()
        self._fetch_next()

    def _is_known(self, env_id: str) -> bool:
        return env_id in self._pngs or env_id in self._problems

    def _fetch_next(self) -> None:
        if self._fetching:
            return
        client = self._link.client if self._link.has_client else None
        env_id = next((name for name in self._requested if self._can_fetch(name)), None)
        if env_id is None:
            return
        self._fetching = env_id
        path = self._folder / _file_name(env_id)
        self._tasks.run(
            self,
            lambda: _load_or_render(path, env_id, client),
            lambda png: self._on_png(env_id, png),
            lambda error: self._on_problem(env_id, error),
        )

    def _can_fetch(self, env_id: str) -> bool:
        return not self._is_known(env_id) and (
            self._link.has_client or env_id not in self._not_cached
        )

    def _on_png(self, env_id: str, png: bytes | None) -> None:
        self._fetching = ""
        if png is None:
            self._not_cached.add(env_id)  # No daemon to render it; `connected` retries.
        else:
            self._pngs[env_id] = png
            self.arrived.emit(env_id)
        self._fetch_next()

    def _on_problem(self, env_id: str, error: UserError) -> None:
        self._fetching = ""
        if isinstance(error, DaemonUnreachableError):
            return  # `recovered` retries.
        _log.info("C320 cannot render a thumbnail of %s: %s", env_id, error)
        self._problems[env_id] = error
        self.arrived.emit(env_id)
        self._fetch_next()


def _load_or_render(path: Path, env_id: str, client: "TrainerClient | None") -> bytes | None:
    """Runs on a thread. Returns the PNG even if the cache cannot be written."""
    try:
        return path.read_bytes()
    except OSError:
        if client is None:
            return None
    png = _as_png(client.environment_thumbnail(env_id))
    try:
        create_private_folder(path.parent)
        write_atomically(path, png)
    except (OSError, UserError) as error:
        _log.warning("C321 cannot cache the thumbnail of %s: %s", env_id, error)
    return png


def _as_png(thumbnail: "EnvironmentThumbnail") -> bytes:
    # Pillow is slow to import; this runs on a thread for the first thumbnail.
    from PIL import Image  # noqa: PLC0415

    size = (thumbnail.width, thumbnail.height)
    image = Image.frombytes(_MODES[thumbnail.channels], size, thumbnail.pixels)
    image.thumbnail((_MAX_SIDE_PX, _MAX_SIDE_PX))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _file_name(env_id: str) -> str:
    """A readable and unique file name for any environment id.

    The id contains the version, so a cached thumbnail never belongs to another version.
    """
    readable = _UNSAFE.sub("_", env_id)[:80]
    return f"{readable}-{hashlib.sha256(env_id.encode()).hexdigest()[:8]}.png"

"""EnvironmentPictures: what environments look like, drawn once by the daemon and kept as PNG.

The picker says which ones are in sight; they are fetched one at a time, newest wish first. A
picture that was drawn once is there at the next start before any daemon is.
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

if TYPE_CHECKING:
    from mosaic.client import TrainerClient
    from mosaic.client.results import EnvironmentThumbnail

_log = logging.getLogger(__name__)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_SIDE = 320
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


class EnvironmentPictures(QObject):
    """Made once, by the wiring; all of it is for the UI thread."""

    arrived = Signal(str)
    """The picture of that environment is there, or it is known why there is none."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._folder = link.home.path / "cache" / "pictures"
        self._pictures: dict[str, bytes] = {}
        self._problems: dict[str, UserError] = {}
        self._wanted: list[str] = []
        self._not_kept: set[str] = set()
        """Looked for in the cache, while nobody was there to draw them."""
        self._fetching = ""
        link.connected.connect(self._fetch_next)
        link.recovered.connect(self.try_again)

    def png(self, env_id: str) -> bytes | None:
        """None: not there yet, or there is none; `want` has it fetched."""
        return self._pictures.get(env_id)

    def problem(self, env_id: str) -> UserError | None:
        """Why there is no picture of it."""
        return self._problems.get(env_id)

    def want(self, env_ids: Iterable[str]) -> None:
        """These are in sight. What was wanted before and is not any more is not fetched."""
        self._wanted = [env_id for env_id in env_ids if not self._is_known(env_id)]
        self._fetch_next()

    def try_again(self) -> None:
        """What had no picture may have one by now: packages came, the daemon is back."""
        self._problems.clear()
        self._fetch_next()

    def _is_known(self, env_id: str) -> bool:
        return env_id in self._pictures or env_id in self._problems

    def _fetch_next(self) -> None:
        if self._fetching:
            return
        client = self._link.client if self._link.has_client else None
        env_id = next((each for each in self._wanted if self._can_be_fetched(each)), None)
        if env_id is None:
            return
        self._fetching = env_id
        path = self._folder / _file_name(env_id)
        self._tasks.run(
            self,
            lambda: _kept_or_drawn(path, env_id, client),
            lambda png: self._take(env_id, png),
            lambda error: self._take_problem(env_id, error),
        )

    def _can_be_fetched(self, env_id: str) -> bool:
        return not self._is_known(env_id) and (
            self._link.has_client or env_id not in self._not_kept
        )

    def _take(self, env_id: str, png: bytes | None) -> None:
        self._fetching = ""
        if png is None:
            self._not_kept.add(env_id)  # Nobody was there to draw it; `connected` looks again.
        else:
            self._pictures[env_id] = png
            self.arrived.emit(env_id)
        self._fetch_next()

    def _take_problem(self, env_id: str, error: UserError) -> None:
        self._fetching = ""
        if isinstance(error, DaemonUnreachableError):
            return  # `recovered` looks again.
        _log.info("C320 there is no picture of %s: %s", env_id, error)
        self._problems[env_id] = error
        self.arrived.emit(env_id)
        self._fetch_next()


def _kept_or_drawn(path: Path, env_id: str, client: "TrainerClient | None") -> bytes | None:
    """On a thread. A cache that cannot be written is no reason to show no picture."""
    try:
        return path.read_bytes()
    except OSError:
        if client is None:
            return None
    png = _as_png(client.environment_thumbnail(env_id))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, png)
    except (OSError, UserError) as error:
        _log.warning("C321 the picture of %s could not be kept: %s", env_id, error)
    return png


def _as_png(picture: "EnvironmentThumbnail") -> bytes:
    # Pillow takes a while to import, and this runs on a thread when the first picture comes.
    from PIL import Image  # noqa: PLC0415

    size = (picture.width, picture.height)
    image = Image.frombytes(_MODES[picture.channels], size, picture.pixels)
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _file_name(env_id: str) -> str:
    """Readable, and different for ids that differ only in what a file's name cannot have.

    The id of an environment has its version in it, so a picture is never of another version.
    """
    readable = _UNSAFE.sub("_", env_id)[:80]
    return f"{readable}-{hashlib.sha256(env_id.encode()).hexdigest()[:8]}.png"

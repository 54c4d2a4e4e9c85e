"""Launcher: the blocking calls of the training dock, run off the UI thread.

Preflight, dry run, launch, cancel, bundles, presets and configuration files. Results arrive through
`Tasks`.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PySide6.QtCore import QObject

from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.client import presets
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import DryRunReport, InstallProgress, PreflightReport
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["Launched", "Launcher", "make_preset", "proxy_from_environment", "to_preset_name"]

make_preset = presets.make_preset
to_preset_name = presets.to_preset_name
Document = Mapping[str, Any]
OnFailure = Callable[[UserError], None]
_BUNDLE = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<extras>[^\[\]]*)\])?")
_PROXIES = ("WANDB_VPN_HTTPS_PROXY", "WANDB_VPN_HTTP_PROXY")
_MAX_FILE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Launched:
    """A submitted run, and why its tags and note could not be set."""

    run: RunRecord
    problem: UserError | None = None


class Launcher:
    """Created by `TrainingModel`. Stateless."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def is_connected(self) -> bool:
        """Whether calls can reach a daemon."""
        return self._link.has_client

    def preflight(
        self,
        parent: QObject,
        document: Document,
        on_success: Callable[[PreflightReport], None],
        on_failure: OnFailure,
    ) -> None:
        client = self._link.client
        self._tasks.run(parent, lambda: client.preflight(document), on_success, on_failure)

    def dry_run(
        self,
        parent: QObject,
        document: Document,
        on_success: Callable[[DryRunReport], None],
        on_failure: OnFailure,
    ) -> None:
        client = self._link.client
        self._tasks.run(parent, lambda: client.dry_run(document), on_success, on_failure)

    def launch(
        self,
        parent: QObject,
        document: Document,
        tags: Sequence[str],
        note: str,
        on_success: Callable[[Launched], None],
        on_failure: OnFailure,
    ) -> None:
        client = self._link.client
        self._tasks.run(
            parent, lambda: _submit(client, document, tags, note), on_success, on_failure
        )

    def cancel(self, parent: QObject, run_id: str, on_failure: OnFailure) -> None:
        client = self._link.client
        self._tasks.run(
            parent,
            lambda: client.cancel(run_id, reason="Cancelled from the window."),
            lambda _: None,
            on_failure,
        )

    def install(
        self, argument: str, *, is_repair: bool, wake: Callable[[], None]
    ) -> StreamThread[InstallProgress]:
        """`argument` is the name of a bundle, with extras as `name[atari,mujoco]`."""
        client = self._link.client
        match = _BUNDLE.fullmatch(argument)
        name = match["name"] if match else argument
        listed = (match["extras"] or "").split(",") if match else []
        extras = [extra for extra in listed if extra]
        return StreamThread(
            f"install {name}",
            lambda: client.install_bundle(name, extras=extras, repair=is_repair),
            wake,
        )

    # Presets and files.

    def presets_for(
        self,
        parent: QObject,
        worker: str,
        env_id: str,
        on_success: Callable[[tuple[str, ...]], None],
    ) -> None:
        """List the presets of a worker and an environment; skip unreadable ones."""
        home = self._link.home
        self._tasks.run(parent, lambda: _presets_for(home, worker, env_id), on_success)

    def save_preset(
        self,
        parent: QObject,
        name: str,
        document: Document,
        on_success: Callable[[Path], None],
        on_failure: OnFailure,
    ) -> None:
        home = self._link.home
        self._tasks.run(
            parent, lambda: presets.save_preset(home, name, document), on_success, on_failure
        )

    def load_preset(
        self,
        parent: QObject,
        name: str,
        on_success: Callable[[dict[str, Any]], None],
        on_failure: OnFailure,
    ) -> None:
        home = self._link.home
        self._tasks.run(parent, lambda: presets.load_preset(home, name), on_success, on_failure)

    def delete_preset(
        self,
        parent: QObject,
        name: str,
        on_success: Callable[[dict[str, Any]], None],
        on_failure: OnFailure,
    ) -> None:
        """`on_success` receives the deleted preset."""
        home = self._link.home
        self._tasks.run(parent, lambda: _delete_preset(home, name), on_success, on_failure)

    def read_file(
        self, parent: QObject, path: str, on_success: Callable[[bytes], None], on_failure: OnFailure
    ) -> None:
        self._tasks.run(parent, lambda: _read_bytes(Path(path)), on_success, on_failure)

    def write_file(
        self,
        parent: QObject,
        path: str,
        data: bytes,
        on_success: Callable[[None], None],
        on_failure: OnFailure,
    ) -> None:
        self._tasks.run(parent, lambda: write_atomically(Path(path), data), on_success, on_failure)


def proxy_from_environment() -> str:
    """Default proxy for W&B, from environment variables, without a password; empty: none."""
    for name in _PROXIES:
        try:
            parts = urlsplit(os.environ.get(name, ""))
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            continue  # not a valid address
        if parts.hostname:
            return f"{parts.scheme or 'http'}://{parts.hostname}{port}"
    return ""


def _submit(
    client: "TrainerClient", document: Document, tags: Sequence[str], note: str
) -> Launched:
    run = client.submit(document)
    if not tags and not note:
        return Launched(run)
    try:
        return Launched(client.annotate(run.run_id, add_tags=tags, note=note or None))
    except UserError as error:  # the run is submitted nevertheless
        return Launched(run, error)


def _presets_for(home: Home, worker: str, env_id: str) -> tuple[str, ...]:
    names: list[str] = []
    for name in presets.list_presets(home):
        try:
            document = presets.load_preset(home, name)
        except UserError:
            continue
        if document.get("worker") == worker and document.get("env_id") in (None, env_id):
            names.append(name)
    return tuple(names)


def _delete_preset(home: Home, name: str) -> dict[str, Any]:
    document = presets.load_preset(home, name)
    try:
        presets.preset_path(home, name).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"The preset {name} cannot be deleted: {error.strerror}.",
            remedy="Change the permissions of the folder presets in the home.",
            code="C384",
        ) from error
    return document


def _read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Check that the file exists and that you can read it.",
            code="C381",
        ) from error

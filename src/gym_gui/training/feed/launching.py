"""The blocking calls of the training dock: launch, bundles, presets and configuration files.

Models run them off the UI thread, with `Services.call` or `Tasks.run`.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gym_gui.runtime.stream_thread import StreamThread
from mosaic.client import presets
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import InstallProgress
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

make_preset = presets.make_preset
save_preset = presets.save_preset
load_preset = presets.load_preset
to_preset_name = presets.to_preset_name
Document = Mapping[str, Any]
_BUNDLE = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<extras>[^\[\]]*)\])?")
_PROXIES = ("WANDB_VPN_HTTPS_PROXY", "WANDB_VPN_HTTP_PROXY")
_MAX_FILE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Launched:
    """A submitted run, and why its tags and note could not be set."""

    run: RunRecord
    problem: UserError | None = None


def submit_run(
    client: "TrainerClient", document: Document, tags: Sequence[str], note: str
) -> Launched:
    """Submit the run, then set its tags and note."""
    run = client.submit(document)
    if not tags and not note:
        return Launched(run)
    try:
        return Launched(client.annotate(run.run_id, add_tags=tags, note=note or None))
    except UserError as error:  # the run is submitted nevertheless
        return Launched(run, error)


def start_install(
    client: "TrainerClient", argument: str, *, is_repair: bool, wake: Callable[[], None]
) -> StreamThread[InstallProgress]:
    """`argument` is the name of a bundle, with extras as `name[atari,mujoco]`."""
    match = _BUNDLE.fullmatch(argument)
    name = match["name"] if match else argument
    listed = (match["extras"] or "").split(",") if match else []
    extras = [extra for extra in listed if extra]
    return StreamThread(
        f"install {name}",
        lambda: client.install_bundle(name, extras=extras, repair=is_repair),
        wake,
    )


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


def presets_for(home: Home, worker: str, env_id: str) -> tuple[str, ...]:
    """List the presets of a worker and an environment; skip unreadable ones."""
    names: list[str] = []
    for name in presets.list_presets(home):
        try:
            document = presets.load_preset(home, name)
        except UserError:
            continue
        if document.get("worker") == worker and document.get("env_id") in (None, env_id):
            names.append(name)
    return tuple(names)


def delete_preset(home: Home, name: str) -> dict[str, Any]:
    """Delete the preset and return it."""
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


def read_config_file(path: Path) -> bytes:
    """Raises `UserError`."""
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Check that the file exists and that you can read it.",
            code="C381",
        ) from error

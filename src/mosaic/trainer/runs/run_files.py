"""Files that the daemon writes into a run's directory before the start, and removes at its end."""

import logging
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import read_regular
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.runs import BundleUse

_MAX_LAUNCH_BYTES = 1 << 20


class LaunchRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`launch.json`: what a run was started with, for a registry that has to be rebuilt."""

    command: tuple[str, ...]
    bundle: BundleUse

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """None when the file is missing or unreadable."""
        try:
            return msgspec.json.decode(read_regular(path, _MAX_LAUNCH_BYTES), type=cls)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, path: Path) -> None:
        write_atomically(path, msgspec.json.encode(self))


def write_config(home: Home, run: RunDirectory, config: TrainRunConfig) -> None:
    """Write the configuration to the run's directory, which is created, and to `configs/`."""
    for folder in (run.path, home.configs):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = to_json(config)
    write_atomically(run.config, data)
    write_atomically(home.config_copy(run.run_id), data)


prebuild_decoders(LaunchRecord)


_log = logging.getLogger(__name__)

_UNFINISHED = ".frames-*.tmp"


def remove_frames(run: RunDirectory) -> None:
    """Remove the frame file and unfinished ones. Never raises.

    A replay renders every frame again. Called before the end of a run is recorded, so that a
    finished run has no frames even if the daemon is killed.
    """
    leftovers = [run.frames]
    with suppress(OSError):
        leftovers += run.path.glob(_UNFINISHED)
    for path in leftovers:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:  # a folder of that name, a read-only disk
            _log.warning("T433 %s could not be removed: %s", path, error)

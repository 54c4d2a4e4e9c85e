"""What the daemon writes into a run's directory before its worker is started."""

from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.runs import BundleUse


class LaunchRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`launch.json`: what a run was started with, for a registry that has to be made again."""

    command: tuple[str, ...]
    bundle: BundleUse

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """None when there is none that can be read."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, path: Path) -> None:
        write_atomically(path, msgspec.json.encode(self))


def write_config(home: Home, run: RunDirectory, config: TrainRunConfig) -> None:
    """The configuration in the run's directory, which is made, and its copy beside all others."""
    for folder in (run.path, home.configs):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = to_json(config)
    write_atomically(run.config, data)
    write_atomically(home.config_copy(run.run_id), data)


prebuild_decoders(LaunchRecord)

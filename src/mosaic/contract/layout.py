"""Paths of everything under `var/`. No other module builds these paths.

Stored paths are relative to `var/`, so that the folder can be moved.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid

HOME_VARIABLE = "MOSAIC_HOME"
RUN_ID_VARIABLE = "MOSAIC_RUN_ID"
CHECKPOINT_VARIABLE = "MOSAIC_CHECKPOINT"
RUN_DIR_VARIABLE = "MOSAIC_RUN_DIR"
_SUPERVISORS = "supervisors"


def create_private_folder(folder: Path) -> None:
    """Create a folder with its parents; only its owner can enter those that are created.

    Existing folders keep their permissions. Raises `OSError`.
    """
    missing = []
    for parent in (folder, *folder.parents):
        if parent.exists():
            break
        missing.append(parent)
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)  # raises if a file has this name


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The files of one run: the source of truth, readable without the daemon."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def spool(self) -> Path:
        """The worker's stdout: append-only, the source of the store."""
        return self.path / "telemetry.jsonl"

    @property
    def store(self) -> Path:
        """The SQLite file that ingest builds from the spool."""
        return self.path / "telemetry.db"

    @property
    def rejects(self) -> Path:
        """Lines that failed to parse, each with its offset in the spool."""
        return self.path / "rejects.jsonl"

    @property
    def worker_log(self) -> Path:
        return self.path / "worker.log"

    @property
    def control(self) -> Path:
        """The FIFO connected to the worker's stdin."""
        return self.path / "control"

    @property
    def frames(self) -> Path:
        return self.path / "frames"

    @property
    def supervisor_folder(self) -> Path:
        """The folder of the supervisor's records: not in the directory that a worker is given."""
        return self.path.parent.parent / _SUPERVISORS / self.path.name

    @property
    def records(self) -> Path:
        """The folder that has the supervisor's records.

        An imported run and a run of an earlier version have them in the run's directory. Once
        `supervisor_folder` exists, files of these names in the directory mean nothing.
        """
        return self.supervisor_folder if self.supervisor_folder.is_dir() else self.path

    @property
    def supervisor_lock(self) -> Path:
        """Locked by the supervisor while it runs."""
        return self.records / "supervisor.lock"

    @property
    def started(self) -> Path:
        return self.records / "started.json"

    @property
    def annotations(self) -> Path:
        """Name, tags and note, for a registry that is rebuilt."""
        return self.path / "annotations.json"

    @property
    def imported(self) -> Path:
        """Exists if the run was imported. Written by the importer, never taken from an archive."""
        return self.path / "imported.json"

    @property
    def launch(self) -> Path:
        """Command line and bundle of the run."""
        return self.path / "launch.json"

    @property
    def exit(self) -> Path:
        return self.records / "exit.json"

    @property
    def manifest(self) -> Path:
        return self.path / "analytics.json"

    @property
    def tensorboard(self) -> Path:
        return self.path / "runs"

    @property
    def videos(self) -> Path:
        return self.path / "videos"

    @property
    def wandb(self) -> Path:
        return self.path / "wandb"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def study(self) -> Path:
        """The Optuna study of a sweep, an SQLite file."""
        return self.path / "optuna.db"


@dataclass(frozen=True, slots=True)
class Home:
    """The `var` folder."""

    path: Path

    @classmethod
    def locate(cls, given: str | os.PathLike[str] | None = None) -> "Home":
        """Return `given` (from --home), else $MOSAIC_HOME, else `var` in the current folder."""
        chosen = given or os.environ.get(HOME_VARIABLE) or "var"
        return cls(Path(chosen).expanduser().absolute())

    @property
    def trainer(self) -> Path:
        return self.path / "trainer"

    @property
    def registry(self) -> Path:
        return self.trainer / "trainer.db"

    @property
    def token(self) -> Path:
        return self.trainer / "token"

    @property
    def endpoint(self) -> Path:
        return self.trainer / "endpoint.json"

    def socket(self, key: str) -> Path:
        """The Unix domain socket of one daemon process; `key` is new at each start."""
        return self.trainer / f"daemon-{key}.sock"

    def sockets(self) -> Iterator[Path]:
        """All sockets, including those that killed daemons left."""
        return self.trainer.glob("daemon-*.sock")

    @property
    def settings(self) -> Path:
        return self.trainer / "settings.toml"

    @property
    def daemon_lock(self) -> Path:
        """Locked by the daemon while it runs."""
        return self.trainer / "daemon.lock"

    @property
    def disk_reserve(self) -> Path:
        """Space that a daemon releases when it starts on a full disk."""
        return self.trainer / "disk_reserve"

    @property
    def quarantine(self) -> Path:
        """Run directories that cannot be used, each with a file that gives the reason."""
        return self.trainer / "quarantine"

    @property
    def worker_code(self) -> Path:
        """Copies of workers' sources, by content hash, so that earlier runs keep theirs."""
        return self.trainer / "worker_code"

    @property
    def worker_descriptions(self) -> Path:
        """Cache of worker descriptors, by content hash of the worker's code."""
        return self.trainer / "worker_descriptions"

    @property
    def secrets(self) -> Path:
        return self.trainer / "secrets.env"

    @property
    def configs(self) -> Path:
        return self.trainer / "configs"

    @property
    def runs(self) -> Path:
        return self.trainer / "runs"

    @property
    def supervisors(self) -> Path:
        """The records of supervisors, one folder per run."""
        return self.trainer / _SUPERVISORS

    @property
    def venvs(self) -> Path:
        return self.trainer / "venvs"

    @property
    def checkpoints(self) -> Path:
        return self.trainer / "checkpoints"

    @property
    def datasets(self) -> Path:
        return self.trainer / "datasets"

    @property
    def presets(self) -> Path:
        """Saved run configurations, by name."""
        return self.path / "presets"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def exports(self) -> Path:
        """Files that the window exported."""
        return self.path / "exports"

    @property
    def cache(self) -> Path:
        """Files of the window that can be created again."""
        return self.path / "cache"

    def run(self, run_id: str) -> RunDirectory:
        """Return the directory of a run. The id is validated, so the path stays in the home."""
        if not is_ulid(run_id):
            raise UserError(
                f"'{run_id}' is not a run id.",
                remedy="A run id has 26 letters and digits; `mosaic runs list` shows them.",
            )
        return RunDirectory(self.runs / run_id)

    def config_copy(self, run_id: str) -> Path:
        return self.configs / f"config-{run_id}.json"

    def relative(self, path: Path) -> str:
        """Return `path` relative to the home, as it is stored. Raises `UserError` outside of it."""
        try:
            return path.relative_to(self.path).as_posix()
        except ValueError:
            raise UserError(
                f"{path} is outside of the home {self.path}.",
                remedy="Move it into the home, or choose a file inside it.",
            ) from None

"""Where everything under `var/` lives. No other module joins these names.

Paths that are stored anywhere are relative to `var/`, so that the folder can be moved.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid

HOME_VARIABLE = "MOSAIC_HOME"
RUN_ID_VARIABLE = "MOSAIC_RUN_ID"
CHECKPOINT_VARIABLE = "MOSAIC_CHECKPOINT"
RUN_DIR_VARIABLE = "MOSAIC_RUN_DIR"


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Everything one run is: the truth on disk, readable without the daemon."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def spool(self) -> Path:
        """What the worker wrote to its stdout: append-only, the source of truth."""
        return self.path / "telemetry.jsonl"

    @property
    def store(self) -> Path:
        """The SQLite file made from the spool."""
        return self.path / "telemetry.db"

    @property
    def rejects(self) -> Path:
        """Lines that could not be decoded, each with its place in the spool."""
        return self.path / "rejects.jsonl"

    @property
    def worker_log(self) -> Path:
        return self.path / "worker.log"

    @property
    def control(self) -> Path:
        """The FIFO that is the worker's stdin."""
        return self.path / "control"

    @property
    def frames(self) -> Path:
        return self.path / "frames"

    @property
    def supervisor_lock(self) -> Path:
        """Locked by the supervisor for as long as it lives."""
        return self.path / "supervisor.lock"

    @property
    def started(self) -> Path:
        return self.path / "started.json"

    @property
    def launch(self) -> Path:
        """What the run was started with: command line and bundle."""
        return self.path / "launch.json"

    @property
    def exit(self) -> Path:
        return self.path / "exit.json"

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
        """What a sweep has tried: an Optuna study, an SQLite file."""
        return self.path / "optuna.db"


@dataclass(frozen=True, slots=True)
class Home:
    """The `var` folder."""

    path: Path

    @classmethod
    def locate(cls, given: str | os.PathLike[str] | None = None) -> "Home":
        """`given` (from --home), else $MOSAIC_HOME, else `var` in the current folder."""
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

    @property
    def settings(self) -> Path:
        return self.trainer / "settings.toml"

    @property
    def daemon_lock(self) -> Path:
        """Locked by the daemon for as long as it lives."""
        return self.trainer / "daemon.lock"

    @property
    def quarantine(self) -> Path:
        """Directories of runs that cannot be used, each with a reason beside it."""
        return self.trainer / "quarantine"

    @property
    def worker_code(self) -> Path:
        """Copies of workers' sources, one per content, so that old runs keep theirs."""
        return self.trainer / "worker_code"

    @property
    def worker_descriptions(self) -> Path:
        """What workers answered to `--describe`, by the content of their code: a cache."""
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
        """Configurations to begin a run with, by name."""
        return self.path / "presets"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def run(self, run_id: str) -> RunDirectory:
        """The directory of one run. The id is checked, so it can never lead out of the home."""
        if not is_ulid(run_id):
            raise UserError(
                f"'{run_id}' is not a run id.",
                remedy="A run id is 26 letters and digits; `mosaic runs list` shows them.",
            )
        return RunDirectory(self.runs / run_id)

    def config_copy(self, run_id: str) -> Path:
        return self.configs / f"config-{run_id}.json"

    def relative(self, path: Path) -> str:
        """`path` as it is stored: relative to the home. Refuses what lies outside of it."""
        try:
            return path.relative_to(self.path).as_posix()
        except ValueError:
            raise UserError(
                f"{path} lies outside of the home {self.path}.",
                remedy="Move it into the home, or name a file inside it.",
            ) from None

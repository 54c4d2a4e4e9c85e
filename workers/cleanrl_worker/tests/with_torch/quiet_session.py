"""A session for tests that prints nothing and records everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleanrl_worker.arguments import SessionOptions
from cleanrl_worker.session.training_session import TrainingSession

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.sink import CheckpointToSave, FinishedEpisode


class RecordingSink:
    """Records; requests a stop once scalars of `stop_at_step` were logged."""

    renders_first_env = False

    def __init__(self, directory: Path, stop_at_step: int | None = None) -> None:
        self.directory = directory
        self.finished: list[tuple[int, FinishedEpisode]] = []
        self.curves: dict[str, list[tuple[int, float]]] = {}
        self.saved: list[Path] = []
        self.artifacts: list[tuple[str, str]] = []
        self.messages: list[tuple[str, str]] = []
        self.newest_step = 0
        self._stop_at_step = stop_at_step

    @property
    def should_stop(self) -> bool:
        return self._stop_at_step is not None and self.newest_step >= self._stop_at_step

    @property
    def needs_attention(self) -> bool:
        return self.should_stop

    def wait_while_paused(self) -> None:
        pass

    def is_save_requested(self) -> bool:
        return False

    def wrap_env(self, env: Any, index: int) -> Any:  # noqa: ARG002
        return env

    def log_scalars(self, values: Mapping[str, float], step: int) -> None:
        self.newest_step = max(self.newest_step, step)
        for name, value in values.items():
            self.curves.setdefault(name, []).append((step, value))

    def log_episode(self, episode: FinishedEpisode, step: int) -> None:
        self.finished.append((step, episode))

    def report_progress(self, step: int, total: int, eta_s: float | None) -> None:
        pass

    def save_checkpoint(self, checkpoint: CheckpointToSave) -> Path:
        path = self.directory / "checkpoints" / checkpoint.name
        path.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.write(path)
        self.saved.append(path)
        return path

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.artifacts.append((kind, path))

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.artifacts.append((kind, url))

    def log_message(self, level: str, message: str) -> None:
        self.messages.append((level, message))

    def close(self) -> None:
        pass


def quiet_session(
    algo: str,
    args: SharedArgs,
    directory: Path,
    *,
    stop_at_step: int | None = None,
    **options: Any,
) -> tuple[TrainingSession, RecordingSink]:
    """`options` are fields of SessionOptions; TensorBoard is off by default."""
    sink = RecordingSink(directory, stop_at_step)
    session_options = SessionOptions(**{"tensorboard": False, **options})
    return TrainingSession(algo, args, sink, session_options), sink

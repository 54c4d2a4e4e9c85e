"""Running a learner as a script: flags by tyro, CleanRL's output, files in the current directory.

Every learner ends with `run_as_script(Args, train)`; a MOSAIC run calls its `train` instead.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cleanrl_worker.learner_catalog import is_large
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.sink import CheckpointToSave, FinishedEpisode
    from cleanrl_worker.session.training_session import TrainingSession

    AnyArgs = TypeVar("AnyArgs", bound=SharedArgs)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_as_script(
    args_type: type[AnyArgs], train: Callable[[AnyArgs, TrainingSession], Any]
) -> None:
    import tyro  # noqa: PLC0415 - only scripts parse flags

    from cleanrl_worker.session.training_session import TrainingSession  # noqa: PLC0415

    args = tyro.cli(args_type)
    algo = Path(sys.argv[0]).stem
    try:
        session = TrainingSession(algo, args, ConsoleSink(), is_large=is_large(algo))
        try:
            train(args, session)
        finally:
            session.close()
    except WorkerError as error:
        sys.exit(f"{algo}: {error.message} {error.remedy}".rstrip())


class ConsoleSink:
    """Ctrl-C and SIGTERM stop the training with a checkpoint; the second one stops it at once."""

    renders_first_env = False

    def __init__(self) -> None:
        self.directory = Path.cwd()
        self.should_stop = False
        self._previous = {number: signal.signal(number, self._stop) for number in _SIGNALS}

    @property
    def needs_attention(self) -> bool:
        return self.should_stop

    def wait_while_paused(self) -> None:
        """Not supported; Ctrl-Z suspends the process."""

    def is_save_requested(self) -> bool:
        return False

    def wrap_env(self, env: Any, index: int) -> Any:  # noqa: ARG002 - the same for all
        return env

    def log_scalars(self, values: Mapping[str, float], step: int) -> None:  # noqa: ARG002
        if "charts/SPS" in values:
            print("SPS:", int(values["charts/SPS"]), flush=True)

    def log_episode(self, episode: FinishedEpisode, step: int) -> None:
        print(f"global_step={step}, episodic_return={episode.episode_return}", flush=True)

    def report_progress(self, step: int, total: int, eta_s: float | None) -> None:
        """Not printed, because the lines of episodes include the step."""

    def save_checkpoint(self, checkpoint: CheckpointToSave) -> Path:
        path = self.directory / "checkpoints" / checkpoint.name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".partial-{checkpoint.name}")
        checkpoint.write(partial)
        partial.replace(path)
        print(f"model saved to {path.relative_to(self.directory)}", flush=True)
        return path

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """Not printed."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        print(f"{kind}: {url}", flush=True)

    def log_message(self, level: str, message: str) -> None:
        print(f"{level}: {message}", file=sys.stderr, flush=True)

    def close(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _frame: Any) -> None:
        self.should_stop = True
        signal.signal(number, self._previous[signal.Signals(number)] or signal.SIG_DFL)

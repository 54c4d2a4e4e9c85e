"""A session for tests: nothing is printed, and everything it tells can be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleanrl_worker.session.plan import SessionPlan
from cleanrl_worker.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.outlet import FinishedEpisode, Saved


class QuietOutlet:
    """Collects; `stop_at_step` asks the session to end once it has told of that step."""

    draws_first = False

    def __init__(self, directory: Path, stop_at_step: int | None = None) -> None:
        self.directory = directory
        self.finished: list[tuple[int, FinishedEpisode]] = []
        self.curves: dict[str, list[tuple[int, float]]] = {}
        self.saved: list[Path] = []
        self.artifacts: list[tuple[str, str]] = []
        self.words: list[tuple[str, str]] = []
        self.newest_step = 0
        self._stop_at_step = stop_at_step

    @property
    def should_stop(self) -> bool:
        return self._stop_at_step is not None and self.newest_step >= self._stop_at_step

    @property
    def wants_attention(self) -> bool:
        return self.should_stop

    def wait_while_paused(self) -> None:
        pass

    def is_told_to_save(self) -> bool:
        return False

    def on_made(self, env: Any, index: int) -> Any:  # noqa: ARG002
        return env

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        self.newest_step = max(self.newest_step, step)
        for name, value in values.items():
            self.curves.setdefault(name, []).append((step, value))

    def episode(self, episode: FinishedEpisode, step: int) -> None:
        self.finished.append((step, episode))

    def progress(self, step: int, total: int, eta_s: float | None) -> None:
        pass

    def save(self, saved: Saved) -> Path:
        path = self.directory / "checkpoints" / saved.name
        path.parent.mkdir(parents=True, exist_ok=True)
        saved.write(path)
        self.saved.append(path)
        return path

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.artifacts.append((kind, path))

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.artifacts.append((kind, url))

    def say(self, level: str, message: str) -> None:
        self.words.append((level, message))

    def close(self) -> None:
        pass


def quiet_session(
    algo: str,
    args: SharedArgs,
    directory: Path,
    *,
    stop_at_step: int | None = None,
    **plan: Any,
) -> tuple[Session, QuietOutlet]:
    """`plan` are fields of SessionPlan; there are no event files unless it says so."""
    outlet = QuietOutlet(directory, stop_at_step)
    settings = SessionPlan(**{"tensorboard": False, **plan})
    return Session(algo, args, outlet, settings), outlet

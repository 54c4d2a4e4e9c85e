"""A learner run as a plain script: it prints what CleanRL's scripts print."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.session.outlet import FinishedEpisode, Saved

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ScriptOutlet:
    """Ctrl-C and SIGTERM end the training with a checkpoint; the second one ends it at once."""

    draws_first = False

    def __init__(self) -> None:
        self.directory = Path.cwd()
        self.should_stop = False
        self._before = {number: signal.signal(number, self._stop) for number in _SIGNALS}

    @property
    def wants_attention(self) -> bool:
        return self.should_stop

    def wait_while_paused(self) -> None:
        """A shell pauses by Ctrl-Z."""

    def is_told_to_save(self) -> bool:
        return False

    def on_made(self, env: Any, index: int) -> Any:  # noqa: ARG002 - the same for all
        return env

    def scalars(self, values: Mapping[str, float], step: int) -> None:  # noqa: ARG002
        if "charts/SPS" in values:
            print("SPS:", int(values["charts/SPS"]), flush=True)

    def episode(self, episode: FinishedEpisode, step: int) -> None:
        print(f"global_step={step}, episodic_return={episode.episode_return}", flush=True)

    def progress(self, step: int, total: int, eta_s: float | None) -> None:
        """The lines above tell it."""

    def save(self, saved: Saved) -> Path:
        path = self.directory / "checkpoints" / saved.name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".partial-{saved.name}")
        saved.write(partial)
        partial.replace(path)
        print(f"model saved to {path.relative_to(self.directory)}", flush=True)
        return path

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """What is on the disk can be seen there."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        print(f"{kind}: {url}", flush=True)

    def say(self, level: str, message: str) -> None:
        print(f"{level}: {message}", file=sys.stderr, flush=True)

    def close(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _frame: Any) -> None:
        self.should_stop = True
        signal.signal(number, self._before[signal.Signals(number)] or signal.SIG_DFL)

"""RunSink: where a training session reports to and gets its commands from.

`MosaicSink` is used in a MOSAIC run, `ConsoleSink` in a script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class FinishedEpisode(NamedTuple):
    """An episode that has ended."""

    env_index: int
    episode_return: float
    length: int
    terminated: bool
    truncated: bool


class CheckpointToSave(NamedTuple):
    """A checkpoint that `write` writes to a given path."""

    name: str
    write: Callable[[Path], Any]
    step: int
    metrics: Mapping[str, float]
    meta: Mapping[str, Any]


class RunSink(Protocol):
    """The interface of a sink; also a listener of the SDK's trackers."""

    @property
    def directory(self) -> Path:
        """The session writes all of its files here."""

    @property
    def should_stop(self) -> bool:
        """Whether a stop was requested."""

    @property
    def needs_attention(self) -> bool:
        """Whether a stop or a pause was requested; must be fast."""

    def wait_while_paused(self) -> None:
        """Return at once unless the session is paused."""

    def is_save_requested(self) -> bool:
        """Whether a checkpoint was requested since the last call."""

    def wrap_env(self, env: Any, index: int) -> Any:
        """Return the result of `gymnasium.make`, or a wrapper of it."""

    @property
    def renders_first_env(self) -> bool:
        """Whether the first environment needs a render mode."""

    def log_scalars(self, values: Mapping[str, float], step: int) -> None: ...

    def log_episode(self, episode: FinishedEpisode, step: int) -> None: ...

    def report_progress(self, step: int, total: int, eta_s: float | None) -> None: ...

    def save_checkpoint(self, checkpoint: CheckpointToSave) -> Path: ...

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """Announce a file or folder in the directory."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        """Announce a page about the session."""

    def log_message(self, level: str, message: str) -> None:
        """Log a message; `level` is info or warning. Named as in the SDK's listener."""

    def close(self) -> None: ...

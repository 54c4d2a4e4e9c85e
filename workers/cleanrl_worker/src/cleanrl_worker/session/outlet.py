"""Where a session's news goes, and where its orders come from: MOSAIC, or a terminal."""

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


class Saved(NamedTuple):
    """A checkpoint that is about to be written."""

    name: str
    write: Callable[[Path], Any]
    step: int
    metrics: Mapping[str, float]
    meta: Mapping[str, Any]


class Outlet(Protocol):
    """One of the two worlds that a learner may be run in."""

    directory: Path
    """Everything the session writes goes here."""

    @property
    def should_stop(self) -> bool:
        """Whether the session has been asked to end."""

    @property
    def wants_attention(self) -> bool:
        """Whether to stop or to pause; asked very often."""

    def wait_while_paused(self) -> None:
        """Returns at once unless the session is to stand still."""

    def is_told_to_save(self) -> bool:
        """Whether somebody wants a checkpoint now."""

    def on_made(self, env: Any, index: int) -> Any:
        """An environment was made by `gymnasium.make`; returns it or a wrapper of it."""

    @property
    def draws_first(self) -> bool:
        """Whether the first environment is to be drawn."""

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Numbers for curves."""

    def episode(self, episode: FinishedEpisode, step: int) -> None: ...

    def progress(self, step: int, total: int, eta_s: float | None) -> None: ...

    def save(self, saved: Saved) -> Path: ...

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """A file or folder in the directory is there, or has grown."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        """Something of the session can be seen at an address."""

    def say(self, level: str, message: str) -> None:
        """Words for people: level is info or warning."""

    def close(self) -> None: ...

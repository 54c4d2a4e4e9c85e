"""PlayFeed: the episode that is being played, from every step and every beginning of a run.

A session's state has only the newest step; the return of an episode needs them all, and what is
seen before the first step stands on the line that begins the episode. Two threads of its own.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord

if TYPE_CHECKING:
    from mosaic.client.results import EventLine
    from mosaic.client.streams import Stream
    from mosaic.client.trainer_client import TrainerClient

_MOST_ORDINALS = 10_000
"""Of episodes whose steps may still come."""


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """What is known of the newest episode; `action` led to `observation`."""

    episode_id: str = ""
    ordinal: int | None = None
    steps: int = 0
    total_return: float = 0.0
    observation: Any = None
    render: Any = None
    action: Any = None
    terminated: bool = False
    truncated: bool = False

    @property
    def is_over(self) -> bool:
        return self.terminated or self.truncated


class PlayFeed:
    """Of one run; `on_news` is called on the feed's threads whenever `view` has changed."""

    def __init__(self, client: "TrainerClient", run_id: str, on_news: Callable[[], None]) -> None:
        self._on_news = on_news
        self._lock = threading.Lock()
        self._view = EpisodeView()
        self._env_kwargs: Mapping[str, Any] = {}
        self._ordinals: dict[str, int] = {}
        self._streams: tuple[Stream[Any], ...] = (
            client.steps(run_id, follow=True),
            client.events(run_id, follow=True),
        )
        takers: tuple[Callable[[Any], None], ...] = (self._take_step, self._take_line)
        self._threads = [
            threading.Thread(target=self._read, args=pair, name="play-feed", daemon=True)
            for pair in zip(self._streams, takers, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def view(self) -> EpisodeView:
        return self._view

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """What the environment was made with, as the worker resolved it."""
        return self._env_kwargs

    def close(self) -> None:
        for stream in self._streams:
            stream.close()
        for thread in self._threads:
            thread.join()

    def _read(self, stream: "Stream[Any]", take: Callable[[Any], None]) -> None:
        while True:
            try:
                for item in stream:
                    with self._lock:
                        take(item)
                    self._on_news()
            except DaemonUnreachableError:
                continue  # longer than a stream waits; the session goes on when the daemon does
            except UserError:
                pass  # the session's own state says why a run cannot be followed
            self._on_news()
            return

    def _take_step(self, numbered: tuple[int, StepRecord]) -> None:
        step = numbered[1]
        view = self._view
        if step.episode_id != view.episode_id:
            ordinal = self._ordinals.get(step.episode_id)
            if ordinal is not None and ordinal < (view.ordinal or 0):
                return  # the next episode has begun: its line came first
            view = EpisodeView(step.episode_id, ordinal)
        self._view = replace(
            view,
            steps=step.step + 1,
            total_return=view.total_return + step.reward,
            observation=step.obs,
            render=step.render,
            action=step.action,
            terminated=step.terminated,
            truncated=step.truncated,
        )

    def _take_line(self, line: "EventLine") -> None:
        if line.type not in ("environment", "episode_start"):
            return
        fields = msgspec.json.decode(line.line)
        if isinstance(fields.get("env_kwargs"), dict):
            self._env_kwargs = fields["env_kwargs"]
        if line.type == "episode_start":
            self._begin(fields)

    def _begin(self, fields: dict[str, Any]) -> None:
        episode_id, ordinal = fields["episode_id"], fields.get("episode") or 0
        self._ordinals[episode_id] = ordinal
        while len(self._ordinals) > _MOST_ORDINALS:
            del self._ordinals[next(iter(self._ordinals))]
        if episode_id == self._view.episode_id:
            self._view = replace(self._view, ordinal=ordinal)
        elif ordinal >= (self._view.ordinal or 0):
            self._view = EpisodeView(
                episode_id,
                ordinal,
                observation=fields.get("obs"),
                render=fields.get("render"),
            )

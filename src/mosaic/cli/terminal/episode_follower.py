"""The current episode of a run, built from its steps and episode starts.

A session's state has only the newest step, but the return needs all steps, and the first
observation is in the event that starts the episode. Uses two threads.
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

_MAX_ORDINALS = 10_000
"""Episodes to remember whose steps may still arrive."""


@dataclass(frozen=True, slots=True)
class EpisodeSnapshot:
    """The newest episode; `action` led to `observation`."""

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
    def is_finished(self) -> bool:
        return self.terminated or self.truncated


class EpisodeFollower:
    """Follows one run; calls `on_update` on its threads whenever `episode` has changed."""

    def __init__(self, client: "TrainerClient", run_id: str, on_update: Callable[[], None]) -> None:
        self._on_update = on_update
        self._lock = threading.Lock()
        self._episode = EpisodeSnapshot()
        self._env_kwargs: Mapping[str, Any] = {}
        self._ordinals: dict[str, int] = {}
        self._streams: tuple[Stream[Any], ...] = (
            client.steps(run_id, follow=True),
            client.events(run_id, follow=True),
        )
        handlers: tuple[Callable[[Any], None], ...] = (self._handle_step, self._handle_line)
        self._threads = [
            threading.Thread(target=self._read, args=pair, name="episode-follower", daemon=True)
            for pair in zip(self._streams, handlers, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def episode(self) -> EpisodeSnapshot:
        return self._episode

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """The keyword arguments of the environment, as the worker resolved them."""
        return self._env_kwargs

    def close(self) -> None:
        for stream in self._streams:
            stream.close()
        for thread in self._threads:
            thread.join()

    def _read(self, stream: "Stream[Any]", handle: Callable[[Any], None]) -> None:
        while True:
            try:
                for item in stream:
                    with self._lock:
                        handle(item)
                    self._on_update()
            except DaemonUnreachableError:
                continue  # the stream gave up waiting; the session continues with the next daemon
            except UserError:
                pass  # the session's state has the reason
            self._on_update()
            return

    def _handle_step(self, numbered: tuple[int, StepRecord]) -> None:
        step = numbered[1]
        episode = self._episode
        if step.episode_id != episode.episode_id:
            ordinal = self._ordinals.get(step.episode_id)
            if ordinal is not None and ordinal < (episode.ordinal or 0):
                return  # the next episode has started already
            episode = EpisodeSnapshot(step.episode_id, ordinal)
        self._episode = replace(
            episode,
            steps=step.step + 1,
            total_return=episode.total_return + step.reward,
            observation=step.obs,
            render=step.render,
            action=step.action,
            terminated=step.terminated,
            truncated=step.truncated,
        )

    def _handle_line(self, line: "EventLine") -> None:
        if line.type not in ("environment", "episode_start"):
            return
        fields = msgspec.json.decode(line.line)
        if isinstance(fields.get("env_kwargs"), dict):
            self._env_kwargs = fields["env_kwargs"]
        if line.type == "episode_start":
            self._start_episode(fields)

    def _start_episode(self, fields: dict[str, Any]) -> None:
        episode_id, ordinal = fields["episode_id"], fields.get("episode") or 0
        self._ordinals[episode_id] = ordinal
        while len(self._ordinals) > _MAX_ORDINALS:
            del self._ordinals[next(iter(self._ordinals))]
        if episode_id == self._episode.episode_id:
            self._episode = replace(self._episode, ordinal=ordinal)
        elif ordinal >= (self._episode.ordinal or 0):
            self._episode = EpisodeSnapshot(
                episode_id,
                ordinal,
                observation=fields.get("obs"),
                render=fields.get("render"),
            )

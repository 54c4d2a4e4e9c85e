"""The recorder: attach it to an environment, and its episodes can be played again exactly."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mosaic_worker.environments.made_layer import made_layer
from mosaic_worker.recording.detail import Detail
from mosaic_worker.recording.environment_line import environment_fields
from mosaic_worker.recording.flusher import Flusher
from mosaic_worker.recording.render_hints import render_hinter
from mosaic_worker.recording.taps import tap
from mosaic_worker.recording.track import Track
from mosaic_worker.recording.watchers import Watchers

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.watchers import Listener


class _Attached(NamedTuple):
    """An environment, what is written of it, and what ends that."""

    env: Any
    tracks: list[Track]
    untap: Callable[[], None]


class EpisodeRecorder:
    """Writes the episodes of the environments that it is attached to.

    Environments may be stepped in different threads, each in one at a time. Killing the process
    loses at most 256 steps or 200 ms of an episode recorded by columns, and of one recorded in
    full what the emitter says. A forked child records nothing of what its parent attached.
    """

    def __init__(
        self, emitter: Emitter, *, detail: str = "all", agent_id: str | None = None
    ) -> None:
        """`detail` is "all", "sampled", "columns" or "off".

        Agents that work side by side have a recorder each, so that a note stays with its agent;
        with `agent_id`, every line says whose it is.
        """
        self._emitter = emitter
        self._agent_id = None if agent_id is None else str(agent_id)
        self._detail = Detail(detail)
        self._watchers = Watchers()
        self._attached: dict[int, _Attached] = {}
        self._flusher = Flusher(self.flush)
        _forget_in_children(self)
        atexit.register(self.flush)

    @property
    def detail(self) -> str:
        return self._detail.name

    @property
    def listener(self) -> Listener | None:
        """Called after each step with the fields of its line as a dict, in plain values."""
        return self._watchers.listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self._watchers.listener = listener
        for track in self._tracks():
            track.watch()

    @property
    def on_episode(self) -> Listener | None:
        """Called when an episode begins, with `episode_id`, `obs`, `render` and the like."""
        return self._watchers.on_episode

    @on_episode.setter
    def on_episode(self, listener: Listener | None) -> None:
        self._watchers.on_episode = listener

    def attach(self, env: Any, *, env_index: int | None = None) -> Any:
        """Record `env` from its next reset on, and return it.

        Wrappers do not matter: what `gymnasium.make` returned, at or below `env`, is recorded. An
        environment that is attached already stays as it is.
        """
        made = made_layer(env)
        if id(made) not in self._attached:
            hint = render_hinter(made)
            space = getattr(made, "action_space", None)
            track = self._track(environment_fields(made), space, env_index, hint)
            untap = tap(made, track, self._emitter.writer, self.detail, lambda: self._detach(made))
            self._attached[id(made)] = _Attached(made, [track], untap)
            self._flusher.start()
        return env

    def attach_vector(self, envs: Any) -> Any:
        """Record every sub-environment of a vector environment, and return it.

        Those of one that runs in other processes, or has one state for all, can only be seen from
        outside; the `environment` line says whether their episodes can be replayed.
        """
        from mosaic_worker.recording.vector import record_outside  # noqa: PLC0415 - rarely needed

        base = envs.unwrapped
        parts = getattr(base, "envs", None)
        if parts is not None:
            for index, env in enumerate(parts):
                self.attach(env, env_index=index)
        elif id(base) not in self._attached:
            tracks, untap = record_outside(base, self._track, lambda: self._detach(base))
            self._attached[id(base)] = _Attached(base, tracks, untap)
            self._flusher.start()
        return envs

    def note(self, **fields: Any) -> None:
        """Put actor, seq, bdi, llm, render or agent_id onto the next step."""
        self._watchers.note(fields)

    def flush(self) -> None:
        """Write what running episodes hold back. From any thread."""
        for track in self._tracks():
            track.want_all()
        self._emitter.flush()

    def close(self) -> None:
        """Record no more. Unfinished episodes are written as far as they are, without an end."""
        self._flusher.stop()
        for attached in list(self._attached.values()):
            self._detach(attached.env)
        atexit.unregister(self.flush)

    def _detach(self, env: Any) -> None:
        attached = self._attached.pop(id(env))
        attached.untap()
        for track in attached.tracks:
            track.leave()
        self._emitter.flush()
        with self._emitter.writer.lock:
            for track in attached.tracks:
                self._emitter.writer.sources.remove(track.feed.take)

    def _tracks(self) -> list[Track]:
        return [track for attached in list(self._attached.values()) for track in attached.tracks]

    def _track(
        self,
        environment: dict[str, Any],
        action_space: Any,
        env_index: int | None,
        hint: Callable[[], Any] | None = None,
    ) -> Track:
        track = Track(
            self._emitter,
            self._detail,
            self._watchers,
            environment,
            action_space=action_space,
            env_index=env_index,
            agent_id=self._agent_id,
            hint=hint,
        )
        with self._emitter.writer.lock:
            self._emitter.writer.sources.append(track.feed.take)
        return track

    def forget(self) -> None:
        """In a forked child: what is attached is the parent's to record."""
        for attached in self._attached.values():
            attached.untap()
        self._attached.clear()


def _forget_in_children(recorder: EpisodeRecorder) -> None:
    """Without keeping the recorder: what is registered here stays for the process's life."""
    reference = weakref.ref(recorder)

    def forget() -> None:
        alive = reference()
        if alive is not None:
            alive.forget()

    os.register_at_fork(after_in_child=forget)

"""EpisodeRecorder: records the episodes of environments, so that they can be replayed exactly."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mosaic_worker.compat import OldRecorderNames
from mosaic_worker.environments.inspection import find_made_env
from mosaic_worker.recording.env_metadata import describe_environment, make_render_hint
from mosaic_worker.recording.env_trace import EnvTrace
from mosaic_worker.recording.episode_log import StepDetail
from mosaic_worker.recording.instrumentation import instrument
from mosaic_worker.recording.step_listeners import StepListeners

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.step_listeners import Listener

FLUSH_EVERY_S = 0.15  # together with scheduling delays, steps are written within 200 ms


class _Attached(NamedTuple):
    """An environment, its traces, and the function that removes its instrumentation."""

    env: Any
    traces: list[EnvTrace]
    remove: Callable[[], None]


class EpisodeRecorder(OldRecorderNames):
    """Records the episodes of the environments that are attached to it.

    Environments may be stepped in different threads, each by one thread at a time. Killing the
    process loses at most 256 steps or 200 ms of an episode recorded as columns; for full episodes
    see `Emitter`. A forked child does not record the environments of its parent.
    """

    def __init__(
        self, emitter: Emitter, *, detail: str = "all", agent_id: str | None = None
    ) -> None:
        """`detail` is "all", "sampled", "columns" or "off".

        Concurrent agents have a recorder each, so that annotations stay with their agent; with
        `agent_id`, every line carries it.
        """
        self._emitter = emitter
        self._agent_id = None if agent_id is None else str(agent_id)
        self._detail = StepDetail(detail)
        self._listeners = StepListeners()
        self._attached: dict[int, _Attached] = {}
        self._flusher = PeriodicFlusher(self.flush)
        _clear_in_children(self)
        atexit.register(self.flush)

    @property
    def detail(self) -> str:
        return self._detail.name

    @property
    def listener(self) -> Listener | None:
        """Called after each step with the fields of its line as a dict of builtin values."""
        return self._listeners.listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self._listeners.listener = listener
        for trace in self._traces():
            trace.update_fast_path()

    @property
    def on_episode(self) -> Listener | None:
        """Called at the start of an episode with `episode_id`, `obs`, `render` and so on."""
        return self._listeners.on_episode

    @on_episode.setter
    def on_episode(self, listener: Listener | None) -> None:
        self._listeners.on_episode = listener

    def attach(self, env: Any, *, env_index: int | None = None) -> Any:
        """Record `env` from its next reset on, and return it.

        The object that `gymnasium.make` returned, at or below `env`, is recorded; wrappers around
        it do not matter. Attaching an environment twice has no effect.
        """
        base_env = find_made_env(env)
        if id(base_env) not in self._attached:
            render_hint = make_render_hint(base_env)
            space = getattr(base_env, "action_space", None)
            trace = self._make_trace(describe_environment(base_env), space, env_index, render_hint)
            remove = instrument(
                base_env, trace, self._emitter.writer, self.detail, lambda: self._detach(base_env)
            )
            self._attached[id(base_env)] = _Attached(base_env, [trace], remove)
            self._flusher.start()
        return env

    def attach_vector(self, envs: Any) -> Any:
        """Record every sub-environment of a vector environment, and return it.

        Sub-environments in other processes, or with a common state, are only observed from
        outside; the `environment` line says whether their episodes can be replayed.
        """
        from mosaic_worker.recording.vector import record_from_outside  # noqa: PLC0415 - rarely needed

        base = envs.unwrapped
        sub_envs = getattr(base, "envs", None)
        if sub_envs is not None:
            for index, env in enumerate(sub_envs):
                self.attach(env, env_index=index)
        elif id(base) not in self._attached:
            traces, remove = record_from_outside(base, self._make_trace, lambda: self._detach(base))
            self._attached[id(base)] = _Attached(base, traces, remove)
            self._flusher.start()
        return envs

    def annotate(self, **fields: Any) -> None:
        """Add actor, seq, bdi, llm, render or agent_id to the next step."""
        self._listeners.annotate(fields)

    def flush(self) -> None:
        """Write the buffered steps of running episodes. Thread-safe."""
        for trace in self._traces():
            trace.request_flush()
        self._emitter.flush()

    def close(self) -> None:
        """Stop recording. Unfinished episodes are written without an end."""
        self._flusher.stop()
        for attached in list(self._attached.values()):
            self._detach(attached.env)
        atexit.unregister(self.flush)

    def _detach(self, env: Any) -> None:
        attached = self._attached.pop(id(env))
        attached.remove()
        for trace in attached.traces:
            trace.detach()
        self._emitter.flush()
        with self._emitter.writer.lock:
            for trace in attached.traces:
                self._emitter.writer.sources.remove(trace.builder.drain)

    def _traces(self) -> list[EnvTrace]:
        return [trace for attached in list(self._attached.values()) for trace in attached.traces]

    def _make_trace(
        self,
        environment: dict[str, Any],
        action_space: Any,
        env_index: int | None,
        render_hint: Callable[[], Any] | None = None,
    ) -> EnvTrace:
        trace = EnvTrace(
            self._emitter,
            self._detail,
            self._listeners,
            environment,
            action_space=action_space,
            env_index=env_index,
            agent_id=self._agent_id,
            render_hint=render_hint,
        )
        with self._emitter.writer.lock:
            self._emitter.writer.sources.append(trace.builder.drain)
        return trace

    def clear_after_fork(self) -> None:
        """In a forked child: the parent records the attached environments."""
        for attached in self._attached.values():
            attached.remove()
        self._attached.clear()


def _clear_in_children(recorder: EpisodeRecorder) -> None:
    """Register a weak reference, because fork handlers cannot be unregistered."""
    reference = weakref.ref(recorder)

    def clear() -> None:
        instance = reference()
        if instance is not None:
            instance.clear_after_fork()

    os.register_at_fork(after_in_child=clear)


class PeriodicFlusher:
    """Calls `flush` periodically from a daemon thread, so that a killed process loses little."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def start(self) -> None:
        """Call it in the thread that attaches environments. Repeated calls have no effect."""
        if self._thread is None and not self._stopped.is_set():
            self._thread = threading.Thread(target=self._run, name="mosaic-recorder", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(FLUSH_EVERY_S):
            self._flush()

    def _reset_after_fork(self) -> None:
        """In a forked child the thread does not exist."""
        self._stopped = threading.Event()
        self._thread = None

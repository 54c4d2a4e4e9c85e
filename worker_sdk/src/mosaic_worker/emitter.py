"""Emitter: writes telemetry, one JSON object per line, one method per type of line.

An `Emitter` claims the standard output of the process. Any other output, from Python or from C,
goes to standard error instead.
"""

from __future__ import annotations

import os
import time
from itertools import count as counting_from
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.encoding import UNENCODABLE, choose_encoder, encode_any
from mosaic_worker.errors import WorkerError
from mosaic_worker.line_encoder import MAX_LINE_BYTES, LineEncoder
from mosaic_worker.line_writer import BURST_LINES, LineWriter
from mosaic_worker.policy_table import make_policy_table
from mosaic_worker.run_control import RunControl
from mosaic_worker.scalars import (
    MAX_NUMBER,
    MIN_NUMBER,
    to_bool,
    to_column,
    to_count,
    to_episode_id,
    to_int,
    to_int64,
    to_number,
)
from mosaic_worker.standard_streams import claim_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1
STAMP_SECONDS = 0.01

ARTIFACT_KINDS = ("video", "tensorboard", "wandb", "optuna", "checkpoint", "dataset", "report")

_EPISODE_FIELDS: dict[str, Callable[[str, Any], Any]] = {
    "env_index": to_count,
    "success": to_bool,
    "terminated": to_bool,
    "truncated": to_bool,
}


class Emitter:
    """Telemetry of one process. All methods are thread-safe.

    When a method returns, its line is in the kernel, and killing the process loses nothing. The
    exceptions are steps, and starts and ends of episodes, that come less than 0.5 ms apart: up to
    16 of them are written with one system call (see `LineWriter`).

    Values that JSON cannot express (arrays, NaN, paths, arbitrary objects) are converted as the
    protocol defines and never raise. Only a field with a fixed type, such as `reward`, raises.
    """

    def __init__(
        self,
        *,
        run_control: RunControl | None = None,
        fd: int | None = None,
        encoder: str = "",
        burst: int = BURST_LINES,
    ) -> None:
        """Claim standard output, or write to `fd` and leave standard output alone.

        `encoder` is "msgspec", "orjson" or "json"; default: the fastest that is installed.
        `burst=1` writes every step with its own system call, which takes about twice the time.
        """
        chosen = choose_encoder(encoder)
        self.encoder = chosen.name
        self.records = chosen
        """Constructors of the frequent records, for code that writes through `writer`."""
        self.episodes = 0
        self.ordinals = counting_from(0)
        """Iterator over the numbers of future episodes. Thread-safe."""
        self._encode = chosen.encode
        self._make_step = chosen.step
        self._make_metric = chosen.metric
        self._lines = LineEncoder(chosen)
        self.writer = LineWriter(
            claim_stdout() if fd is None else fd,
            run_control or RunControl(),
            self._lines.body,
            burst,
        )
        self._write_buffered = self.writer.write_buffered
        self._clock = time.monotonic
        self.stamp_due = 0.0
        self._checked_id: str | None = None  # consecutive steps mostly share their episode

    @property
    def broken(self) -> str:
        """Why telemetry can no longer be delivered; empty while it can."""
        return self.writer.broken

    # The frequent lines.

    def step(
        self,
        episode_id: str,
        step: int,
        action: Any,
        reward: float,
        terminated: bool,
        truncated: bool,
        obs: Any = None,
        info: Any = None,
        render: Any = None,
        actor: str | None = None,
        seq: int | None = None,
        bdi: Any = None,
        llm: Any = None,
        agent_id: str | None = None,
        t: float | None = None,
    ) -> None:
        """One step of an episode. `step` counts from 0; `obs` is the observation after the action.

        Without `t`, the time is added if the last one was written at least 10 ms ago.
        """
        kind: type = reward.__class__
        if kind is not float and (kind is not int or not MIN_NUMBER <= reward <= MAX_NUMBER):
            reward = to_number("reward", reward)
        if (
            step.__class__ is not int
            or step < 0
            or (terminated is not False and terminated is not True)
            or (truncated is not False and truncated is not True)
        ):
            step = to_count("step", step)
            terminated = to_bool("terminated", terminated)
            truncated = to_bool("truncated", truncated)
        if episode_id is not self._checked_id:
            episode_id = self._checked_id = to_episode_id(episode_id)
        if actor is not None or seq is not None or agent_id is not None:
            actor = None if actor is None else str(actor)
            seq = None if seq is None else to_int64("seq", seq)
            agent_id = None if agent_id is None else str(agent_id)
        if action.__class__ is not int:
            to_list = getattr(action, "tolist", None)
            if to_list is not None:
                action = to_list()  # five times as fast as through the encoder's hook
        now = self._clock()
        if now >= self.stamp_due and t is None:
            t = self.stamp(now)
        record = self._make_step(
            episode_id, step, action, reward, terminated, truncated,
            obs, info, render, actor, seq, bdi, llm, agent_id, t,
        )  # fmt: skip
        # _send_buffered, inlined, because an additional call per step is measurable.
        try:
            line = self._encode(record)
        except UNENCODABLE:
            self._send_slow_path(record)
            return
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            self._write_buffered(line, now)
        else:
            self._send_slow_path(record)

    def metric(
        self,
        name: str,
        value: float,
        step: int | None = None,
        *,
        agent_id: str | None = None,
        t: float | None = None,
    ) -> None:
        """One point of one curve; `step` is the run's global step."""
        if name.__class__ is not str:
            name = str(name)
        if value.__class__ is not float:
            value = to_number(name, value)
        if step is not None and step.__class__ is not int:
            step = to_int64("step", step)
        if agent_id is not None:
            agent_id = str(agent_id)
        if t is None:
            t = self.time()
        self._send_buffered(self._make_metric(name, value, step, agent_id, t), self._clock())
        self.writer.flush()

    def metrics(self, values: Mapping[str, float], step: int | None = None, **fields: Any) -> None:
        """Points of several curves at one step."""
        plain = {str(name): to_number(str(name), value) for name, value in values.items()}
        fields.setdefault("t", self.time())
        step = None if step is None else to_int64("step", step)
        self.emit("metric", values=plain, step=step, **fields)

    # Episodes.

    def episode_start(
        self,
        *,
        seed: int | None = None,
        start: Mapping[str, str] | None = None,
        episode_id: str | None = None,
        episode: int | None = None,
        **fields: Any,
    ) -> str:
        """Open an episode and return its id.

        `episode` is the run-wide ordinal; default: the next one, from 0. `seed` is the argument of
        `reset` (or `start` the captured state), so that the episode can be replayed.
        """
        given = None if episode_id is None else to_episode_id(episode_id)
        if episode is None:
            ordinal = next(self.ordinals)
        else:
            ordinal = to_count("episode", episode)
            if ordinal >= self.episodes:
                self.ordinals = counting_from(ordinal + 1)
        self.episodes = max(self.episodes, ordinal + 1)
        name = f"ep{ordinal}" if given is None else given
        self._emit_buffered(
            "episode_start",
            episode_id=name,
            episode=ordinal,
            seed=None if seed is None else to_int("seed", seed),
            start=start,
            **_convert_typed_fields(fields),
        )
        return name

    def episode(self, episode_id: str, steps: int, episode_return: float, **fields: Any) -> None:
        """Close an episode. More fields: terminated, truncated, env_index, success, …"""
        fields["return"] = to_number("episode_return", episode_return)
        fields.setdefault("t_end", self.time())
        self._emit_buffered(
            "episode",
            episode_id=to_episode_id(episode_id),
            steps=to_count("steps", steps),
            **_convert_typed_fields(fields),
        )

    def steps(
        self, episode_id: str, first: int, actions: list[Any], rewards: list[float], **fields: Any
    ) -> None:
        """Many steps of one episode as columns, instead of one line per step."""
        actions = to_column("actions", actions)
        rewards = [to_number("rewards", reward) for reward in to_column("rewards", rewards)]
        if len(actions) != len(rewards):
            raise WorkerError(
                f"'actions' has {len(actions)} entries and 'rewards' has {len(rewards)}.",
                remedy="Pass one action and one reward per step.",
            )
        self.emit(
            "steps",
            episode_id=to_episode_id(episode_id),
            first=to_count("first", first),
            actions=actions,
            rewards=rewards,
            **fields,
        )

    def policy(
        self,
        actions: Any = None,
        q_values: Any = None,
        *,
        step: int | None = None,
        actor: str | None = None,
        **fields: Any,
    ) -> None:
        """The policy of an environment with `Discrete` observations, for every state.

        `actions` holds the greedy action of each state, None where there is no choice; `q_values`
        the values of all actions of each state. Without either, the previous policy is withdrawn.
        """
        table = make_policy_table(actions, q_values)
        step = None if step is None else to_count("step", step)
        self.emit("policy", **table._asdict(), step=step, actor=actor, **fields)

    # The run.

    def hello(self, worker: str, worker_version: str, **fields: Any) -> None:
        """The first line of a run."""
        fields.setdefault("pid", os.getpid())
        self.emit("hello", v=SCHEMA_VERSION, worker=worker, worker_version=worker_version, **fields)

    def config(
        self, run_id: str, algo: str, env_id: str, seed: int, args: Mapping[str, Any], **fields: Any
    ) -> None:
        """The resolved configuration: every value that the run uses."""
        self.emit("config", run_id=run_id, algo=algo, env_id=env_id, seed=seed, args=args, **fields)

    def artifact(self, kind: str, path: str | None = None, **fields: Any) -> None:
        """A file of the run: `path` is relative to the run directory; or give `url`."""
        if kind not in ARTIFACT_KINDS:
            raise WorkerError(
                f"'{kind}' is not an artifact kind.",
                remedy=f"Use one of {', '.join(ARTIFACT_KINDS)}.",
            )
        self.emit("artifact", kind=kind, path=path, **fields)

    def heartbeat(self, **fields: Any) -> None:
        """A heartbeat line. `Heartbeat` sends these periodically."""
        fields.setdefault("t", self.time())
        self.emit("heartbeat", **fields)

    def progress(self, done: float, total: float, unit: str = "steps", **fields: Any) -> None:
        """Progress of the run."""
        self.emit(
            "progress",
            done=to_number("done", done),
            total=to_number("total", total),
            unit=unit,
            **fields,
        )

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:
        """A message for the run's log; `fields` carry its values."""
        self.emit("log", level=level, code=code, message=message, fields=fields or None)

    def status(self, state: str, reason: str | None = None) -> None:
        """`state` is running, paused or stopping."""
        self.emit("status", state=state, reason=reason)

    def bye(self, outcome: str, error: str = "", remedy: str = "", *, timeout: float = -1) -> bool:
        """The last line; `outcome` is succeeded, failed or cancelled. Later lines are discarded.

        Waits up to `timeout` seconds for writes of other threads; False if it was not written.
        """
        if timeout < 0:
            for warning in self._lines.pending_warnings():
                self.writer.write(warning)
        fields = {"type": "bye", "outcome": outcome, "error": error, "remedy": remedy}
        line, _ = encode_any({name: value for name, value in fields.items() if value})
        return self.writer.write_last(line, timeout)

    def emit(self, kind: str, /, **fields: Any) -> None:
        """A line of any type. Fields that are None are omitted."""
        self._emit_buffered(kind, **fields)
        self.writer.flush()

    def encode(self, kind: str, /, **fields: Any) -> bytes:
        """The line that `emit` would write, without its newline."""
        return encode_any({"type": kind, **fields})[0]

    def write_line(self, line: bytes) -> None:
        """Write `line` unchanged, and a newline. For tests of readers."""
        self.writer.write(line)

    def flush(self) -> None:
        """Write buffered steps. Needed only before the process kills itself."""
        self.writer.flush()

    def _emit_buffered(self, kind: str, /, **fields: Any) -> None:
        given = {name: value for name, value in fields.items() if value is not None}
        if "agent_id" in given:
            given["agent_id"] = str(given["agent_id"])
        self._send_buffered({"type": kind, **given}, self._clock())

    def _send_buffered(self, record: Any, now: float) -> None:
        try:
            line = self._encode(record)
        except UNENCODABLE:
            self._send_slow_path(record)
            return
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            self._write_buffered(line, now)
        else:
            self._send_slow_path(record)

    def _send_slow_path(self, record: Any) -> None:
        for line in self._lines.encode_slow_path(record):
            self.writer.write(line)

    def stamp(self, now: float) -> float:
        """The current time, for a step; the next time stamp is due in 10 ms."""
        self.stamp_due = now + STAMP_SECONDS
        return self.time()

    def time(self) -> float:
        """Seconds since the epoch, with the precision of the protocol."""
        # More digits than milliseconds would take a third of the stored bytes of a line.
        return int(time.time() * 1000) / 1000


def _convert_typed_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Convert those fields of an episode line that have a fixed type."""
    for name, value in fields.items():
        if value is not None and name in _EPISODE_FIELDS:
            fields[name] = _EPISODE_FIELDS[name](name, value)
    return fields

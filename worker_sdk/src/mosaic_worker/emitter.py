"""Writes telemetry: one JSON object per line, one method per type of line.

An `Emitter` takes the process's standard output for itself. Whatever else prints, in Python or in
C, ends up on standard error.
"""

from __future__ import annotations

import os
import time
from itertools import count as counting_from
from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.encoding import UNENCODABLE, choose_encoder, encode_with_care
from mosaic_worker.errors import WorkerError
from mosaic_worker.flow import Flow
from mosaic_worker.line_encoder import MAX_LINE_BYTES, LineEncoder
from mosaic_worker.line_writer import BURST_LINES, LineWriter
from mosaic_worker.policy_table import policy_table
from mosaic_worker.scalars import (
    LARGEST_NUMBER,
    LOWEST_NUMBER,
    column,
    count,
    episode_name,
    flag,
    number,
    whole,
    whole64,
)
from mosaic_worker.standard_streams import claim_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1
STAMP_SECONDS = 0.01

ARTIFACT_KINDS = ("video", "tensorboard", "wandb", "optuna", "checkpoint", "dataset", "report")

_EPISODE_FIELDS: dict[str, Callable[[str, Any], Any]] = {
    "env_index": count,
    "success": flag,
    "terminated": flag,
    "truncated": flag,
}


class Emitter:
    """Telemetry of one process. Methods may be called from any thread.

    When a method returns, its line is in the kernel, and killing the process loses nothing. The one
    exception are steps, and starts and ends of episodes, that come less than 0.5 ms apart: up to 16
    of them are handed over together (`LineWriter` says when).

    Values that JSON lacks (arrays, NaN, paths, odd objects) are written as the protocol says and
    never raise; only a field with a fixed type, such as `reward`, does.
    """

    def __init__(
        self,
        *,
        flow: Flow | None = None,
        fd: int | None = None,
        encoder: str = "",
        burst: int = BURST_LINES,
    ) -> None:
        """Claim standard output, or write to `fd` and leave standard output alone.

        `encoder` is "msgspec", "orjson" or "json"; by default the fastest that is installed.
        `burst=1` hands over every step by itself, at about twice the price.
        """
        chosen = choose_encoder(encoder)
        self.encoder = chosen.name
        self.records = chosen
        """Makes records of the frequent types, for who writes through `writer`."""
        self.episodes = 0
        self.ordinals = counting_from(0)
        """The numbers of the episodes to come; `next` of it may be called from any thread."""
        self._encode = chosen.encode
        self._make_step = chosen.step
        self._make_metric = chosen.metric
        self._lines = LineEncoder(chosen)
        self.writer = LineWriter(
            claim_stdout() if fd is None else fd, flow or Flow(), self._lines.body, burst
        )
        self._write_soon = self.writer.write_soon
        self._clock = time.monotonic
        self.stamp_due = 0.0
        self._checked_id: str | None = None  # most steps are of the last one's episode

    @property
    def broken(self) -> str:
        """Why telemetry can no longer be delivered, or an empty string."""
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
        """One step of an episode. `step` counts from 0; `obs` is what the action led to.

        Without `t`, the time is written when 10 ms have passed since it last was.
        """
        kind: type = reward.__class__
        if kind is not float and (kind is not int or not LOWEST_NUMBER <= reward <= LARGEST_NUMBER):
            reward = number("reward", reward)
        if (
            step.__class__ is not int
            or step < 0
            or (terminated is not False and terminated is not True)
            or (truncated is not False and truncated is not True)
        ):
            step = count("step", step)
            terminated = flag("terminated", terminated)
            truncated = flag("truncated", truncated)
        if episode_id is not self._checked_id:
            episode_id = self._checked_id = episode_name(episode_id)
        if actor is not None or seq is not None or agent_id is not None:
            actor = None if actor is None else str(actor)
            seq = None if seq is None else whole64("seq", seq)
            agent_id = None if agent_id is None else str(agent_id)
        if action.__class__ is not int:
            to_list = getattr(action, "tolist", None)
            if to_list is not None:
                action = to_list()  # the encoder would ask for it, in five times the time
        now = self._clock()
        if now >= self.stamp_due and t is None:
            t = self.stamp(now)
        record = self._make_step(
            episode_id, step, action, reward, terminated, truncated,
            obs, info, render, actor, seq, bdi, llm, agent_id, t,
        )  # fmt: skip
        # What follows is _send_soon, written out: one call more per step can be measured.
        try:
            line = self._encode(record)
        except UNENCODABLE:
            self._send_with_care(record)
            return
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            self._write_soon(line, now)
        else:
            self._send_with_care(record)

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
            value = number(name, value)
        if step is not None and step.__class__ is not int:
            step = whole64("step", step)
        if agent_id is not None:
            agent_id = str(agent_id)
        if t is None:
            t = self.time()
        self._send_soon(self._make_metric(name, value, step, agent_id, t), self._clock())
        self.writer.flush()

    def metrics(self, values: Mapping[str, float], step: int | None = None, **fields: Any) -> None:
        """Points of several curves at one step."""
        plain = {str(name): number(str(name), value) for name, value in values.items()}
        fields.setdefault("t", self.time())
        step = None if step is None else whole64("step", step)
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

        `episode` is the run-wide ordinal and counts from 0 by itself; `seed` is what the
        environment was reset with (or `start`, its captured state), so that it can be replayed.
        """
        given = None if episode_id is None else episode_name(episode_id)
        if episode is None:
            ordinal = next(self.ordinals)
        else:
            ordinal = count("episode", episode)
            if ordinal >= self.episodes:
                self.ordinals = counting_from(ordinal + 1)
        self.episodes = max(self.episodes, ordinal + 1)
        name = f"ep{ordinal}" if given is None else given
        self._emit_soon(
            "episode_start",
            episode_id=name,
            episode=ordinal,
            seed=None if seed is None else whole("seed", seed),
            start=start,
            **_typed(fields),
        )
        return name

    def episode(self, episode_id: str, steps: int, episode_return: float, **fields: Any) -> None:
        """Close an episode. Further fields: terminated, truncated, env_index, success, …"""
        fields["return"] = number("episode_return", episode_return)
        fields.setdefault("t_end", self.time())
        self._emit_soon(
            "episode",
            episode_id=episode_name(episode_id),
            steps=count("steps", steps),
            **_typed(fields),
        )

    def steps(
        self, episode_id: str, first: int, actions: list[Any], rewards: list[float], **fields: Any
    ) -> None:
        """Many steps of one episode as columns, where single steps are not wanted."""
        actions = column("actions", actions)
        rewards = [number("rewards", reward) for reward in column("rewards", rewards)]
        if len(actions) != len(rewards):
            raise WorkerError(
                f"'actions' has {len(actions)} entries and 'rewards' {len(rewards)}.",
                remedy="Give one action and one reward for every step.",
            )
        self.emit(
            "steps",
            episode_id=episode_name(episode_id),
            first=count("first", first),
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
        """What would be done in each state of an environment whose observations are `Discrete`.

        `actions` has the action of every state, None where there is nothing to do; `q_values` the
        values of all actions of every state. Without either, what was told before is withdrawn.
        """
        table = policy_table(actions, q_values)
        step = None if step is None else count("step", step)
        self.emit("policy", **table._asdict(), step=step, actor=actor, **fields)

    # The run.

    def hello(self, worker: str, worker_version: str, **fields: Any) -> None:
        """The first line of a run."""
        fields.setdefault("pid", os.getpid())
        self.emit("hello", v=SCHEMA_VERSION, worker=worker, worker_version=worker_version, **fields)

    def config(
        self, run_id: str, algo: str, env_id: str, seed: int, args: Mapping[str, Any], **fields: Any
    ) -> None:
        """What the run resolved to: every value that it will use."""
        self.emit("config", run_id=run_id, algo=algo, env_id=env_id, seed=seed, args=args, **fields)

    def artifact(self, kind: str, path: str | None = None, **fields: Any) -> None:
        """A file of the run: `path` is relative to the run directory; or give `url`."""
        if kind not in ARTIFACT_KINDS:
            raise WorkerError(
                f"'{kind}' is no kind of artifact.",
                remedy=f"Use one of {', '.join(ARTIFACT_KINDS)}.",
            )
        self.emit("artifact", kind=kind, path=path, **fields)

    def heartbeat(self, **fields: Any) -> None:
        """A sign of life. `Heartbeat` sends these by itself."""
        fields.setdefault("t", self.time())
        self.emit("heartbeat", **fields)

    def progress(self, done: float, total: float, unit: str = "steps", **fields: Any) -> None:
        """How far the run is."""
        self.emit(
            "progress", done=number("done", done), total=number("total", total), unit=unit, **fields
        )

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:
        """A message for the run's log; `fields` carry its figures."""
        self.emit("log", level=level, code=code, message=message, fields=fields or None)

    def status(self, state: str, reason: str | None = None) -> None:
        """running, paused or stopping."""
        self.emit("status", state=state, reason=reason)

    def bye(self, outcome: str, error: str = "", remedy: str = "", *, timeout: float = -1) -> bool:
        """The last line: succeeded, failed or cancelled. Everything after it is discarded.

        Waits at most `timeout` seconds for other threads' writes; False when it was not written.
        """
        if timeout < 0:
            for warning in self._lines.unsaid_warnings():
                self.writer.write(warning)
        fields = {"type": "bye", "outcome": outcome, "error": error, "remedy": remedy}
        line, _ = encode_with_care({name: value for name, value in fields.items() if value})
        return self.writer.write_last(line, timeout)

    def emit(self, kind: str, /, **fields: Any) -> None:
        """Any line. Fields that are None are left out."""
        self._emit_soon(kind, **fields)
        self.writer.flush()

    def encode(self, kind: str, /, **fields: Any) -> bytes:
        """The line that `emit` would write, without its newline."""
        return encode_with_care({"type": kind, **fields})[0]

    def write_line(self, line: bytes) -> None:
        """Write `line` as it is, and a newline. For testing what reads it."""
        self.writer.write(line)

    def flush(self) -> None:
        """Hand over what a burst of steps may still hold. Needed only before killing oneself."""
        self.writer.flush()

    def _emit_soon(self, kind: str, /, **fields: Any) -> None:
        given = {name: value for name, value in fields.items() if value is not None}
        if "agent_id" in given:
            given["agent_id"] = str(given["agent_id"])
        self._send_soon({"type": kind, **given}, self._clock())

    def _send_soon(self, record: Any, now: float) -> None:
        try:
            line = self._encode(record)
        except UNENCODABLE:
            self._send_with_care(record)
            return
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            self._write_soon(line, now)
        else:
            self._send_with_care(record)

    def _send_with_care(self, record: Any) -> None:
        for line in self._lines.careful_lines(record):
            self.writer.write(line)

    def stamp(self, now: float) -> float:
        """The time for a step that is due to have it; the next is due in 10 ms."""
        self.stamp_due = now + STAMP_SECONDS
        return self.time()

    def time(self) -> float:
        """Seconds since the epoch, as they are written."""
        # Three decimals: the rest would be noise, and a third of the line's stored bytes.
        return int(time.time() * 1000) / 1000


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    """An episode's further fields, those of a fixed type as plain values."""
    for name, value in fields.items():
        if value is not None and name in _EPISODE_FIELDS:
            fields[name] = _EPISODE_FIELDS[name](name, value)
    return fields

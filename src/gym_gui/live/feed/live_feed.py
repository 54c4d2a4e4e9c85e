"""LiveFeed: the newest step, frame, environment and policies of a run.

Adds no load to the worker: steps come from the store, frames from the file that the worker writes
in any case. Only the newest step is decoded, at any step rate. Owned by `LiveModel`.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gym_gui.runtime.stream_thread import StreamThread
from mosaic.client.results import EventLine, Frame
from mosaic.contract.decode import RejectedLineError, decode_steps
from mosaic.contract.events import EnvironmentEvent, PolicyEvent, StepRecord
from mosaic.contract.layout import Home
from mosaic.contract.prebuild import prebuild_decoders

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["Frame", "LiveFeed"]

_MAX_QUEUED_LINES = 2000
_MAX_QUEUED_POLICIES = 50
"""Low, because each has the values of every state."""
_MAX_INSPECTED_LINES = 16
"""Newest steps in which to find one of the selected agent."""
_PAUSE_PER_READ = 4
"""Pause after reading a frame, as a multiple of the time it took. Keeps the UI responsive."""


class _AgentField(msgspec.Struct):
    """The only field that is decoded of most lines."""

    agent_id: str | None = None


class LiveFeed:
    """Follows one run. UI thread only."""

    def __init__(
        self, client: "TrainerClient", home: Home, run_id: str, wake: Callable[[], None]
    ) -> None:
        from mosaic.client.sessions import run_follower  # noqa: PLC0415 - imports gRPC

        self.run_id = run_id
        self._frames = run_follower.FrameSource(client, home, run_id)
        self.agents: tuple[str, ...] = ()
        """Agents named in steps so far."""
        self._agent_decoder = msgspec.json.Decoder(_AgentField)
        self._next_read_at = 0.0
        self._frame_number = 0
        self._lines: StreamThread[tuple[int, bytes]] = StreamThread(
            f"live-steps-{run_id[-6:]}",
            lambda: client.step_lines(run_id, follow=True, newest_only=True),
            wake,
            _MAX_QUEUED_LINES,
        )
        self._events: StreamThread[EventLine] = StreamThread(
            f"live-environment-{run_id[-6:]}",
            lambda: client.events(run_id, follow=True, kind="environment"),
            wake,
            _MAX_QUEUED_LINES,
        )
        self._policies: StreamThread[EventLine] = StreamThread(
            f"live-policy-{run_id[-6:]}",
            lambda: client.events(run_id, follow=True, kind="policy"),
            wake,
            _MAX_QUEUED_POLICIES,
        )

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        streams = (self._lines, self._events, self._policies)
        return (*(stream.thread for stream in streams), *self._frames.threads)

    def newest_step(self, agent: str = "") -> StepRecord | None:
        """Return the newest step since the last call, of `agent` if given."""
        newest: bytes | None = None
        for _, line in reversed(self._lines.drain()[-_MAX_INSPECTED_LINES:]):
            line_agent = self._agent_of(line)
            if line_agent and line_agent not in self.agents:
                self.agents = tuple(sorted((*self.agents, line_agent)))
            if newest is None and agent in ("", line_agent):
                newest = line
        return decode_steps(newest)[-1] if newest is not None else None

    def newest_environment(self) -> EnvironmentEvent | None:
        """Return the newest environment event since the last call."""
        events = [event for line in self._events.drain() if (event := line.decode())]
        return events[-1] if events and isinstance(events[-1], EnvironmentEvent) else None

    def newest_policies(self) -> dict[str, PolicyEvent]:
        """Return the newest policy of each agent since the last call. Decodes only those."""
        newest = {self._agent_of(line.line): line for line in self._policies.drain()}
        policies: dict[str, PolicyEvent] = {}
        for agent, line in newest.items():
            try:
                event = line.decode()
            except RejectedLineError:
                continue
            if isinstance(event, PolicyEvent):
                policies[agent] = event
        return policies

    def newest_frame(self) -> Frame | None:
        """Return None without a new frame since the last call."""
        started = time.monotonic()
        if started < self._next_read_at:
            return None
        frame = self._frames.newest(self._frame_number)
        if frame is not None:
            self._frame_number = frame.number
            self._next_read_at = started + (time.monotonic() - started) * _PAUSE_PER_READ
        return frame

    def _agent_of(self, line: bytes) -> str:
        """Return the agent of a line; empty if it has none."""
        try:
            return self._agent_decoder.decode(line).agent_id or ""
        except msgspec.DecodeError:
            return ""

    def close(self) -> None:
        """Close the streams without waiting for their threads."""
        self._lines.close()
        self._events.close()
        self._policies.close()
        self._frames.close()


prebuild_decoders(_AgentField)

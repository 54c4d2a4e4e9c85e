"""LiveFeed: what a running run does now: its newest step, picture, environment and policy.

The worker notices nothing of it: steps are read from the store, pictures from the file that it
writes anyway. However fast the run is, only the newest step is decoded. Owned by `LiveModel`.
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

_MOST_WAITING = 2000
_MOST_POLICIES = 50
"""Each has the values of every state."""
_MOST_LOOKED_AT = 16
"""Steps at a time, among which each of several agents is likely to have one."""
_REST_PER_READ = 4
"""A picture that takes long to read is read so much the seldomer: the window goes first."""


class _Whose(msgspec.Struct):
    """All that is read of a line that is not shown."""

    agent_id: str | None = None


class LiveFeed:
    """Of one run, from now on. All of it is for the UI thread."""

    def __init__(
        self, client: "TrainerClient", home: Home, run_id: str, wake: Callable[[], None]
    ) -> None:
        from mosaic.client.sessions import frame_source  # noqa: PLC0415 - brings gRPC

        self.run_id = run_id
        self._frames = frame_source.FrameSource(client, home, run_id)
        self.agents: tuple[str, ...] = ()
        """Those that steps have named so far."""
        self._whose = msgspec.json.Decoder(_Whose)
        self._look_at = 0.0
        self._shown = 0
        self._lines: StreamThread[tuple[int, bytes]] = StreamThread(
            f"live-steps-{run_id[-6:]}",
            lambda: client.step_lines(run_id, follow=True, newest_only=True),
            wake,
            _MOST_WAITING,
        )
        self._events: StreamThread[EventLine] = StreamThread(
            f"live-environment-{run_id[-6:]}",
            lambda: client.events(run_id, follow=True, kind="environment"),
            wake,
            _MOST_WAITING,
        )
        self._policies: StreamThread[EventLine] = StreamThread(
            f"live-policy-{run_id[-6:]}",
            lambda: client.events(run_id, follow=True, kind="policy"),
            wake,
            _MOST_POLICIES,
        )

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        streams = (self._lines, self._events, self._policies)
        return (*(stream.thread for stream in streams), *self._frames.threads)

    def newest_step(self, agent: str = "") -> StepRecord | None:
        """The last of those that came since the last time; of this agent, if one is named."""
        found: bytes | None = None
        for _, line in reversed(self._lines.drain()[-_MOST_LOOKED_AT:]):
            whose = self._agent_of(line)
            if whose and whose not in self.agents:
                self.agents = tuple(sorted((*self.agents, whose)))
            if found is None and agent in ("", whose):
                found = line
        return decode_steps(found)[-1] if found is not None else None

    def newest_environment(self) -> EnvironmentEvent | None:
        """The last one that was made since the last time."""
        made = [event for line in self._events.drain() if (event := line.decode())]
        return made[-1] if made and isinstance(made[-1], EnvironmentEvent) else None

    def newest_policies(self) -> dict[str, PolicyEvent]:
        """The last one of each agent since the last time; earlier ones are not even decoded."""
        newest = {self._agent_of(line.line): line for line in self._policies.drain()}
        told: dict[str, PolicyEvent] = {}
        for agent, line in newest.items():
            try:
                event = line.decode()
            except RejectedLineError:
                continue
            if isinstance(event, PolicyEvent):
                told[agent] = event
        return told

    def newest_frame(self) -> Frame | None:
        """None when there is no other than the last time."""
        began = time.monotonic()
        if began < self._look_at:
            return None
        frame = self._frames.newest(self._shown)
        if frame is not None:
            self._shown = frame.number
            self._look_at = began + (time.monotonic() - began) * _REST_PER_READ
        return frame

    def _agent_of(self, line: bytes) -> str:
        """Empty where it is not named."""
        try:
            return self._whose.decode(line).agent_id or ""
        except msgspec.DecodeError:
            return ""

    def close(self) -> None:
        """Does not wait for its threads."""
        self._lines.close()
        self._events.close()
        self._policies.close()
        self._frames.close()


prebuild_decoders(_Whose)

"""A stand-in for the daemon's simulation: the colour of a frame encodes its index.

The real one has its own tests; this one can also wait, fail and return wrong results on request.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterator

import msgspec
import zstandard

from mosaic.client.resimulation import (
    FramesDone,
    SimulatedFrame,
    SimulationChecked,
    SimulationMessage,
    SimulationOpened,
)
from mosaic.contract.episodes import EpisodeDetails, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord

WIDTH, HEIGHT = 32, 24
TIMEOUT_S = 30.0
Requested = tuple[int, int, int]


def colour_of(index: int) -> tuple[int, int, int]:
    """Return a colour that differs from its neighbours even after lossy encoding."""
    return (index * 40 % 256, index * 90 % 256, 255 - index * 40 % 256)


def make_frame(
    index: int, request: int = 1, *, width: int = WIDTH, height: int = HEIGHT, channels: int = 3
) -> SimulatedFrame:
    """A frame of one colour."""
    pixel = bytes((*colour_of(index), 255)[:channels])
    return SimulatedFrame(
        request=request,
        index=index,
        width=width,
        height=height,
        channels=channels,
        zstd=zstandard.ZstdCompressor().compress(pixel * (width * height)),
    )


def make_missing_frame(index: int, request: int = 1) -> SimulatedFrame:
    """A frame of an environment that renders nothing."""
    return SimulatedFrame(
        request=request,
        index=index,
        width=0,
        height=0,
        channels=0,
        zstd=b"",
        problem="The environment has no pictures.",
    )


class Gate:
    """Limits the number of frames; without a limit, all are allowed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._left: int | None = None

    def limit(self, frames: int) -> None:
        """Allow only this many more frames."""
        with self._changed:
            self._left = frames
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def pass_through(self, is_replaced: Callable[[], bool]) -> bool:
        """Wait for permission. False: the request was replaced."""
        with self._changed:
            self._changed.wait_for(lambda: self._left != 0 or is_replaced(), TIMEOUT_S)
            if is_replaced():
                return False
            if self._left is not None:
                self._left -= 1
            return True


class StandInSimulation:
    """Produces frames as the gate allows, and drops replaced requests."""

    def __init__(self, owner: "StandInClient", verify_only: bool) -> None:
        self._owner = owner
        self._verify_only = verify_only
        self._requested: queue.SimpleQueue[Requested | None] = queue.SimpleQueue()
        self._numbers = 0

    @property
    def opened(self) -> SimulationOpened:
        if self._owner.error is not None:
            raise self._owner.error
        owner = self._owner
        return SimulationOpened(steps=owner.steps, fps=owner.fps, warnings=owner.warnings)

    def request_frames(self, first: int, count: int = 0) -> int:
        self._numbers += 1
        self._owner.requests.append((first, count))
        self._requested.put((self._numbers, first, count))
        self._owner.gate.wake()
        return self._numbers

    def close(self) -> None:
        self._requested.put(None)
        self._owner.gate.wake()

    def __iter__(self) -> Iterator[SimulationMessage]:
        yield from self._owner.checks
        if self._verify_only:
            return
        requested = self._requested.get(timeout=TIMEOUT_S)
        while requested is not None:
            requested = yield from self._serve(*requested)

    def _serve(
        self, request: int, first: int, count: int
    ) -> Generator[SimulationMessage, None, "Requested | None"]:
        """Send the next requested frame."""
        end = self._owner.steps + 1 if count == 0 else min(first + count, self._owner.steps + 1)
        for index in range(first, end):
            if not self._owner.gate.pass_through(lambda: not self._requested.empty()):
                break
            if index == self._owner.breaks_at:
                raise UserError(
                    "The environment crashed.", remedy="Choose another episode.", code="X1"
                )
            self._owner.made.append(index)
            yield msgspec.structs.replace(self._owner.draw(index), request=request)
        else:
            yield FramesDone(request=request)
        return self._requested.get(timeout=TIMEOUT_S)


class StandInClient:
    """The part of a client that `EpisodeReplay`, `verify` and the exports use."""

    def __init__(self, steps: int = 10) -> None:
        self.steps = steps
        self.fps = 25.0
        self.warnings: tuple[str, ...] = ()
        self.checks: list[SimulationChecked] = []
        self.error: UserError | None = None
        self.breaks_at: int | None = None
        self.draw: Callable[[int], SimulatedFrame] = make_frame
        self.gate = Gate()
        self.requests: list[tuple[int, int]] = []
        self.made: list[int] = []
        self.environment_json: bytes | None = None
        self.records = [
            StepRecord(
                episode_id="e0",
                step=number,
                action=number % 2,
                reward=1.5,
                terminated=number == steps - 1,
                truncated=False,
            )
            for number in range(steps)
        ]

    def resimulate(
        self, run_id: str, episode: int, *, verify_only: bool = False
    ) -> StandInSimulation:
        del run_id, episode
        return StandInSimulation(self, verify_only)

    def episode(self, run_id: str, episode: int) -> EpisodeDetails:
        del run_id
        return EpisodeDetails(
            episode=EpisodeRollup(
                episode=episode,
                episode_id="e0",
                revision=1,
                steps=self.steps,
                total_return=1.5 * self.steps,
                is_over=True,
                terminated=True,
                truncated=False,
            ),
            start_json=b'{"type":"episode_start","episode_id":"e0","seed":3}',
            end_json=b'{"type":"episode","episode_id":"e0","steps":10,"return":15.0}',
            environment_json=self.environment_json,
        )

    def episode_steps(
        self, run_id: str, episode: int, first: int = 0, count: int = 0
    ) -> list[StepRecord]:
        del run_id, episode
        return [step for step in self.records if first <= step.step < first + count]

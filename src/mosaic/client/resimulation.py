"""An episode played again in the bundle of its run: frames on request, and proof that it matches.

`TrainerClient.resimulate` opens one; `mosaic.replay` keeps a playhead and a cache on top of it.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Self

import grpc
import msgspec

from mosaic.client.call_group import CallGroup
from mosaic.client.connection import Connection
from mosaic.client.errors import TrainerError
from mosaic.client.interruptible import Task, carry_out
from mosaic.client.rpc_errors import readable
from mosaic.contract.compression import decompress
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message


class SimulationOpened(msgspec.Struct, kw_only=True, frozen=True):
    """The environment is made and stands at the start of the episode."""

    steps: int
    fps: float
    warnings: tuple[str, ...] = ()
    """Such as packages that are not those of the record."""


class SimulatedFrame(msgspec.Struct, kw_only=True, frozen=True):
    """What is seen after `index` steps. `pixels` is `height` rows of `width` x `channels` bytes."""

    request: int
    index: int
    width: int
    height: int
    channels: int
    zstd: bytes
    problem: str = ""
    """Why there is no picture; empty when there is one."""

    def pixels(self) -> bytes:
        """The picture, decompressed; empty when there is none."""
        if not self.zstd:
            return b""
        size = self.width * self.height * self.channels
        return decompress(self.zstd, size)


class SimulationChecked(msgspec.Struct, kw_only=True, frozen=True):
    """How far rewards and end flags have been compared with the record."""

    steps: int
    is_over: bool
    """All steps have been compared, or a difference was found."""
    first_difference: int | None = None
    """The number of the step, counted from 0 as in the telemetry; None: none so far."""
    difference: str = ""


class FramesDone(msgspec.Struct, kw_only=True, frozen=True):
    """All frames of a request have come."""

    request: int


SimulationPart = SimulatedFrame | SimulationChecked | FramesDone


class ResimulationCalls(CallGroup):
    """Playing recorded episodes again."""

    def resimulate(self, run_id: str, episode: int, *, verify_only: bool = False) -> "Resimulation":
        """The episode again, from the start; close it, or use `with`.

        With `verify_only` nothing is drawn: it goes through all steps once, and its last part says
        whether they came out as recorded.

            with client.resimulate(run_id, 3) as simulation:
                simulation.request_frames(0)
                for part in simulation:
                    if isinstance(part, SimulatedFrame):
                        show(part.pixels())
                    elif isinstance(part, FramesDone):
                        break
        """
        open_it = pb.OpenSimulation(run_id=run_id, episode=episode, verify_only=verify_only)
        return Resimulation(self._connection, open_it)


class Resimulation:
    """Iterate over its parts in one thread; all other methods may be called from any.

    Whatever goes wrong (an episode that cannot be replayed, a bundle that is not installed, an
    environment that crashes or hangs) is a `TrainerError`, raised by `opened` or the iteration.
    """

    def __init__(self, connection: Connection, open_it: pb.OpenSimulation) -> None:
        self._connection = connection
        self._requests: queue.SimpleQueue[pb.ResimulateRequest | None] = queue.SimpleQueue()
        self._requests.put(pb.ResimulateRequest(open=open_it))
        self._numbers = 0
        self._ready: deque[SimulationPart] = deque()
        self._opened: SimulationOpened | None = None
        self._failure: TrainerError | None = None
        self._is_over = False
        self._closing = threading.Event()
        self._asking = threading.Lock()
        self._receiving = threading.Lock()
        self._task: Task[None] | None = None
        """Left behind by a main thread that was interrupted while it waited; not begun twice."""
        self._call: Any = None
        self._call = carry_out(self._begin)

    @property
    def opened(self) -> SimulationOpened:
        """Waits until the environment is made. Raises `TrainerError` when that fails."""
        while self._opened is None:
            if self._is_over or self._closing.is_set():
                raise self._failure or _closed_too_early()
            self._wait_for_more(lambda: self._opened is None)
        return self._opened

    def request_frames(self, first: int, count: int = 0) -> int:
        """Ask for frames from `first` on, `count` 0 being all that follow. Returns at once.

        The answer is the number that comes back as `request` in what it causes. What was asked for
        before is given up: its remaining frames do not come, nor does its `FramesDone`.
        """
        with self._asking:
            self._numbers += 1
            asked = pb.SimulateFrames(request=self._numbers, first=first, count=count)
            self._requests.put(pb.ResimulateRequest(frames=asked))
            return self._numbers

    def __iter__(self) -> Iterator[SimulationPart]:
        return self

    def __next__(self) -> SimulationPart:
        while not self._ready:
            if self._failure is not None:
                raise self._failure
            if self._is_over or self._closing.is_set():
                raise StopIteration
            self._wait_for_more(lambda: not self._ready)
        return self._ready.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._call is not None:
            self.close()

    def close(self) -> None:
        """End it. A thread that waits in it stops waiting, and the iteration ends."""
        self._closing.set()
        self._requests.put(None)
        self._call.cancel()

    def _begin(self) -> Any:
        stub, metadata = self._connection.current()
        # Without a reference to this object: gRPC's own thread keeps what it is given.
        requests = self._connection.open_calls.requests(iter(self._requests.get, None))
        call = stub.Resimulate(requests, metadata=metadata)
        self._connection.open_calls.add(call)
        return call

    def _wait_for_more(self, is_wanted: Callable[[], bool]) -> None:
        def receive() -> None:
            with self._receiving:
                if is_wanted() and not self._is_over:
                    self._receive()

        if self._task is None and threading.current_thread() is not threading.main_thread():
            receive()
            return
        task = self._task = self._task or Task(receive)
        try:
            task.result()
        finally:
            if task.is_done:
                self._task = None

    def _receive(self) -> None:
        """Waits for one part, or for the end."""
        try:
            part = next(self._call)
        except StopIteration:
            self._end()
        except grpc.RpcError as error:
            if not (self._closing.is_set() or self._connection.is_closed):
                self._failure = readable(error, str(self._connection.whereabouts))
            self._end()
        else:
            self._take(part)

    def _take(self, part: pb.ResimulatePart) -> None:
        kind = part.WhichOneof("what")
        if kind == "opened":
            self._opened = from_message(part.opened, SimulationOpened)
        elif kind == "frame":
            self._ready.append(_frame(part.request, part.frame))
        elif kind == "checked":
            self._ready.append(from_message(part.checked, SimulationChecked))
        elif kind == "done":
            self._ready.append(FramesDone(request=part.request))

    def _end(self) -> None:
        self._is_over = True
        self._requests.put(None)


def _frame(request: int, frame: pb.SimulatedFrame) -> SimulatedFrame:
    return SimulatedFrame(
        request=request,
        index=frame.index,
        width=frame.width,
        height=frame.height,
        channels=frame.channels,
        zstd=frame.zstd,
        problem=frame.problem,
    )


def _closed_too_early() -> TrainerError:
    return TrainerError("The replay was closed before it had begun.", remedy="Open it again.")

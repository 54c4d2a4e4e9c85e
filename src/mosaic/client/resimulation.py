"""Re-simulation of a recorded episode in the bundle of its run: frames on request, and comparison.

Opened by `TrainerClient.resimulate`; `mosaic.replay` adds a playhead and a cache.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import grpc
import msgspec

from mosaic.client.api_base import ApiBase
from mosaic.client.connection import Connection
from mosaic.client.errors import TrainerError
from mosaic.client.former_names import resolve_former_names
from mosaic.client.off_main_thread import BackgroundCall, run_off_main_thread
from mosaic.client.rpc_errors import to_trainer_error
from mosaic.contract.compression import decompress
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message


class SimulationOpened(msgspec.Struct, kw_only=True, frozen=True):
    """The environment was created and reset to the start of the episode."""

    steps: int
    fps: float
    warnings: tuple[str, ...] = ()
    """For example package versions that differ from the recorded ones."""


class SimulatedFrame(msgspec.Struct, kw_only=True, frozen=True):
    """The frame after `index` steps. `pixels` is `height` rows of `width` x `channels` bytes."""

    request: int
    index: int
    width: int
    height: int
    channels: int
    zstd: bytes
    problem: str = ""
    """Why there are no pixels; empty if there are."""

    def pixels(self) -> bytes:
        """Return the decompressed pixels, empty if there are none."""
        if not self.zstd:
            return b""
        size = self.width * self.height * self.channels
        return decompress(self.zstd, size)


class SimulationChecked(msgspec.Struct, kw_only=True, frozen=True):
    """Progress of the comparison of rewards and end flags with the recorded ones."""

    steps: int
    is_over: bool
    """All steps were compared, or a difference was found."""
    first_difference: int | None = None
    """Number of the step, counted from 0 as in the telemetry; None: no difference so far."""
    difference: str = ""


class FramesDone(msgspec.Struct, kw_only=True, frozen=True):
    """All frames of a request were sent."""

    request: int


SimulationMessage = SimulatedFrame | SimulationChecked | FramesDone


class ResimulationApi(ApiBase):
    """Re-simulate recorded episodes."""

    def resimulate(self, run_id: str, episode: int, *, verify_only: bool = False) -> "Resimulation":
        """Re-simulate an episode from its start; close the result, or use `with`.

        With `verify_only` nothing is rendered: all steps run once, and the last message says
        whether they match the record.

            with client.resimulate(run_id, 3) as simulation:
                simulation.request_frames(0)
                for message in simulation:
                    if isinstance(message, SimulatedFrame):
                        show(message.pixels())
                    elif isinstance(message, FramesDone):
                        break
        """
        open_request = pb.OpenSimulation(run_id=run_id, episode=episode, verify_only=verify_only)
        return Resimulation(self._connection, open_request)


class Resimulation:
    """Iterate over its messages in one thread; all other methods are thread-safe.

    Failures (an episode that cannot be replayed, a bundle that is not installed, an environment
    that crashes or hangs) raise `TrainerError` in `opened` or in the iteration.
    """

    def __init__(self, connection: Connection, open_request: pb.OpenSimulation) -> None:
        self._connection = connection
        self._requests: queue.SimpleQueue[pb.ResimulateRequest | None] = queue.SimpleQueue()
        self._requests.put(pb.ResimulateRequest(open=open_request))
        self._last_request = 0
        self._ready: deque[SimulationMessage] = deque()
        self._opened: SimulationOpened | None = None
        self._failure: TrainerError | None = None
        self._is_finished = False
        self._closing = threading.Event()
        self._request_lock = threading.Lock()
        self._receive_lock = threading.Lock()
        self._background: BackgroundCall[None] | None = None
        """Still running after the main thread was interrupted in its wait; never started twice."""
        self._call: Any = None
        self._call = run_off_main_thread(self._start)

    @property
    def opened(self) -> SimulationOpened:
        """Wait until the environment was created. Raises `TrainerError` if that fails."""
        while self._opened is None:
            if self._is_finished or self._closing.is_set():
                raise self._failure or _closed_before_open()
            self._wait_for_more(lambda: self._opened is None)
        return self._opened

    def request_frames(self, first: int, count: int = 0) -> int:
        """Request `count` frames starting at `first`; 0: all that follow. Returns immediately.

        Returns the number that the resulting messages have in `request`. A previous request is
        cancelled: its remaining frames and its `FramesDone` are not sent.
        """
        with self._request_lock:
            self._last_request += 1
            frames = pb.SimulateFrames(request=self._last_request, first=first, count=count)
            self._requests.put(pb.ResimulateRequest(frames=frames))
            return self._last_request

    def __iter__(self) -> Iterator[SimulationMessage]:
        return self

    def __next__(self) -> SimulationMessage:
        while not self._ready:
            if self._failure is not None:
                raise self._failure
            if self._is_finished or self._closing.is_set():
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
        """End the simulation. A waiting thread returns and the iteration ends."""
        self._closing.set()
        self._requests.put(None)
        self._call.cancel()

    def _start(self) -> Any:
        stub, metadata = self._connection.current_stub()
        # No reference to this object: gRPC's own thread keeps the iterator.
        requests = self._connection.open_calls.requests(iter(self._requests.get, None))
        call = stub.Resimulate(requests, metadata=metadata)
        self._connection.open_calls.add(call)
        return call

    def _wait_for_more(self, is_needed: Callable[[], bool]) -> None:
        def receive() -> None:
            with self._receive_lock:
                if is_needed() and not self._is_finished:
                    self._receive()

        if self._background is None and threading.current_thread() is not threading.main_thread():
            receive()
            return
        background = self._background = self._background or BackgroundCall(receive)
        try:
            background.result()
        finally:
            if background.is_done:
                self._background = None

    def _receive(self) -> None:
        """Wait for one message or for the end."""
        try:
            message = next(self._call)
        except StopIteration:
            self._finish()
        except grpc.RpcError as error:
            if not (self._closing.is_set() or self._connection.is_closed):
                self._failure = to_trainer_error(error, str(self._connection.resolver))
            self._finish()
        else:
            self._handle(message)

    def _handle(self, message: pb.ResimulatePart) -> None:
        kind = message.WhichOneof("what")
        if kind == "opened":
            self._opened = from_message(message.opened, SimulationOpened)
        elif kind == "frame":
            self._ready.append(_to_frame(message.request, message.frame))
        elif kind == "checked":
            self._ready.append(from_message(message.checked, SimulationChecked))
        elif kind == "done":
            self._ready.append(FramesDone(request=message.request))

    def _finish(self) -> None:
        self._is_finished = True
        self._requests.put(None)


def _to_frame(request: int, frame: pb.SimulatedFrame) -> SimulatedFrame:
    return SimulatedFrame(
        request=request,
        index=frame.index,
        width=frame.width,
        height=frame.height,
        channels=frame.channels,
        zstd=frame.zstd,
        problem=frame.problem,
    )


def _closed_before_open() -> TrainerError:
    return TrainerError("The re-simulation was closed before it started.", remedy="Open it again.")


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)

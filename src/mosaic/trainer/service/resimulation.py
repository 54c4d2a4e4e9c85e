"""Resimulate: simulates a recorded episode again, in a helper process that the client keeps open.

A thread reads the simulation a few parts ahead of the client, so that it renders the next frames
while one is being sent, and waits once a few are ready.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.layout import RunDirectory
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import run_in_long_thread
from mosaic.trainer.service.errors import unknown_episode
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import MAX_CURSOR, BadRequestError, checked_integer
from mosaic.trainer.service.store_view import StoreView
from mosaic.trainer.simulation.errors import not_replayable, too_many_simulations
from mosaic.trainer.simulation.helper_process import Checked, Done, FrameMessage, ScratchFolders
from mosaic.trainer.simulation.resimulation import ResimulationSession, SimulationPart
from mosaic.trainer.simulation.runtime import find_runtime

_PARTS_AHEAD = 8


class SimulationReader:
    """Reads the parts of a simulation on a thread. Created and always stopped on the event loop."""

    def __init__(self, simulation: ResimulationSession) -> None:
        self._simulation = simulation
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[SimulationPart | BaseException | None] = asyncio.Queue()
        self._capacity = threading.Semaphore(_PARTS_AHEAD)
        self._is_stopped = False
        self._reading = asyncio.ensure_future(run_in_long_thread(self._read))

    async def next_part(self) -> SimulationPart | None:
        """The next part that is still requested; None at the end. Raises the simulation's error."""
        while True:
            received = await self._ready.get()
            self._capacity.release()
            if isinstance(received, BaseException):
                raise received
            if received is None or self._simulation.is_current(received.message):
                return received

    async def stop(self) -> None:
        """Kill the simulation; when this returns, no thread uses it."""
        self._is_stopped = True
        self._simulation.kill()
        self._capacity.release()
        await asyncio.wait({self._reading})

    def _read(self) -> None:
        while True:
            received = self._receive()
            self._capacity.acquire()
            if self._is_stopped:
                return
            self._loop.call_soon_threadsafe(self._ready.put_nowait, received)
            if not isinstance(received, SimulationPart):
                return

    def _receive(self) -> SimulationPart | BaseException | None:
        try:
            return self._simulation.next_part()
        except BaseException as error:  # noqa: BLE001 - raised again on the event loop
            return error


MAX_SIMULATIONS = 8


class SimulationSlots:
    """Limits how many replays are open. Event loop only."""

    def __init__(self, maximum: int = MAX_SIMULATIONS) -> None:
        self._maximum = maximum
        self._taken = 0

    @contextmanager
    def acquire(self) -> Iterator[None]:
        if self._taken >= self._maximum:
            raise too_many_simulations(self._maximum)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1


class ResimulationServicer(PartialServicer):
    """Frames are sent at the client's pace: a slow client makes its own simulation wait."""

    _simulations: SimulationSlots
    _scratch: ScratchFolders

    async def Resimulate(
        self, request_iterator: AsyncIterator[pb.ResimulateRequest], _: Context
    ) -> AsyncIterator[pb.ResimulatePart]:
        opening = await _read_opening(request_iterator)
        episode = checked_integer("open.episode", opening.episode, 0, MAX_CURSOR)
        run = await existing_run(self._trainer, opening.run_id)
        with self._simulations.acquire():
            # On the long pool: the helper dies with the thread that started it.
            simulation = await _wait_for_start(
                run_in_long_thread(self._start, run, episode, opening.verify_only)
            )
            forwarding = asyncio.ensure_future(
                _forward_requests(request_iterator, simulation, opening)
            )
            reader = SimulationReader(simulation)
            try:
                while (part := await reader.next_part()) is not None:
                    yield _message(part)
                if forwarding.done():
                    forwarding.result()  # raises if a bad request ended it
            finally:
                forwarding.cancel()
                await reader.stop()
                await _wait_until_done(forwarding)
                await run_in_long_thread(simulation.close)

    def _start(self, run: RunDirectory, episode: int, verify_only: bool) -> ResimulationSession:
        trainer = self._trainer
        recording = _recording(run, episode)
        details = trainer.registry.details(run.run_id)
        return ResimulationSession(
            recording,
            find_runtime(trainer.home, trainer.bundles, trainer.catalog, details),
            self._scratch,
            trainer.secrets.without_secrets(os.environ),
            verify_only=verify_only,
            timeout_s=trainer.settings.replay_timeout_s,
        )


def _recording(run: RunDirectory, episode: int) -> EpisodeRecording:
    with StoreView(run) as view:
        recording = view.read(lambda reader: reader.recording(episode))
    if recording is None:
        raise unknown_episode(run.run_id, episode)
    if isinstance(recording, str):
        raise not_replayable(episode, recording)
    return recording


async def _wait_for_start(work: Coroutine[Any, Any, ResimulationSession]) -> ResimulationSession:
    """The simulation; closed when the call is cancelled before it has started."""
    starting = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _wait_until_done(starting)
        if starting.exception() is None:
            await run_in_long_thread(starting.result().close)
        raise


async def _wait_until_done(work: asyncio.Future[Any]) -> None:
    """Wait for its end and retrieve its exception, which was reported or does not matter."""
    await asyncio.wait({work})
    if not work.cancelled():
        work.exception()


async def _read_opening(requests: AsyncIterator[pb.ResimulateRequest]) -> pb.OpenSimulation:
    first = await anext(requests, None)
    if first is None or first.WhichOneof("what") != "open":
        raise BadRequestError(
            "open", "is missing.", "The first request must name the run and the episode to replay."
        )
    return first.open


async def _forward_requests(
    requests: AsyncIterator[pb.ResimulateRequest],
    simulation: ResimulationSession,
    opening: pb.OpenSimulation,
) -> None:
    """Forward the client's requests; an invalid one kills the simulation."""
    try:
        async for request in requests:
            frames = _requested_frames(request, opening)
            simulation.ask(
                checked_integer("frames.request", frames.request, 1, MAX_CURSOR),
                checked_integer("frames.first", frames.first, 0, simulation.steps),
                checked_integer("frames.count", frames.count, 0, MAX_CURSOR),
            )
        simulation.no_more_requests()
    except BaseException:
        simulation.kill()
        raise


def _requested_frames(
    request: pb.ResimulateRequest, opening: pb.OpenSimulation
) -> pb.SimulateFrames:
    if opening.verify_only:
        raise BadRequestError(
            "frames",
            "were requested from a replay that only verifies.",
            "Open it without `verify_only`.",
        )
    if request.WhichOneof("what") != "frames":
        raise BadRequestError(
            "frames", "is missing.", "Every request after the first must request frames."
        )
    return request.frames


def _message(part: SimulationPart) -> pb.ResimulatePart:
    message = part.message
    if isinstance(message, FrameMessage):
        frame = pb.SimulatedFrame(
            index=message.index,
            width=message.width,
            height=message.height,
            channels=message.channels,
            zstd=part.zstd,
            problem=message.problem,
        )
        return pb.ResimulatePart(request=message.request, frame=frame)
    if isinstance(message, Checked):
        checked = pb.SimulationChecked(
            steps=message.steps,
            is_over=message.is_over,
            first_difference=message.first_difference,
            difference=message.difference,
        )
        return pb.ResimulatePart(checked=checked)
    if isinstance(message, Done):
        return pb.ResimulatePart(request=message.request, done=pb.FramesDone())
    opened = pb.SimulationOpened(steps=message.steps, fps=message.fps, warnings=part.warnings)
    return pb.ResimulatePart(opened=opened)

"""Resimulate: a recorded episode again, in a helper process for as long as the client stays."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.layout import RunDirectory
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import in_long_thread
from mosaic.trainer.service.part_pump import PartPump
from mosaic.trainer.service.refusals import NoSuchEpisodeError
from mosaic.trainer.service.request_checks import LARGEST_CURSOR, BadRequestError, checked_whole
from mosaic.trainer.service.service_part import Context, ServicePart, existing_run
from mosaic.trainer.service.store_view import StoreView
from mosaic.trainer.simulation.failures import NotReplayableError, TooManySimulationsError
from mosaic.trainer.simulation.helper_messages import Checked, Done, Frame
from mosaic.trainer.simulation.runtime import find_runtime
from mosaic.trainer.simulation.scratch_folders import ScratchFolders
from mosaic.trainer.simulation.simulation import Simulation, SimulationPart

SIMULATIONS_AT_ONCE = 8


class SimulationPlaces:
    """How many replays are open. For the event loop alone."""

    def __init__(self, most: int = SIMULATIONS_AT_ONCE) -> None:
        self._most = most
        self._taken = 0

    @contextmanager
    def take(self) -> Iterator[None]:
        if self._taken >= self._most:
            raise TooManySimulationsError(self._most)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1


class ResimulationCalls(ServicePart):
    """Frames are sent as the client takes them: a slow one makes its own simulation wait."""

    _simulations: SimulationPlaces
    _scratch: ScratchFolders

    async def Resimulate(
        self, request_iterator: AsyncIterator[pb.ResimulateRequest], _: Context
    ) -> AsyncIterator[pb.ResimulatePart]:
        opening = await _opening(request_iterator)
        episode = checked_whole("open.episode", opening.episode, 0, LARGEST_CURSOR)
        run = await existing_run(self._trainer, opening.run_id)
        with self._simulations.take():
            # On these threads, because they last: the helper dies with the thread that started it.
            simulation = await _started(
                in_long_thread(self._start, run, episode, opening.verify_only)
            )
            asking = asyncio.ensure_future(_pass_on(request_iterator, simulation, opening))
            pump = PartPump(simulation)
            try:
                while (part := await pump.next_part()) is not None:
                    yield _message(part)
                if asking.done():
                    asking.result()  # a bad request ended it
            finally:
                asking.cancel()
                await pump.stop()
                await _over(asking)
                await in_long_thread(simulation.close)

    def _start(self, run: RunDirectory, episode: int, verify_only: bool) -> Simulation:
        trainer = self._trainer
        recording = _recording(run, episode)
        details = trainer.registry.details(run.run_id)
        return Simulation(
            recording,
            find_runtime(trainer.home, trainer.bundles, trainer.catalog, details),
            self._scratch,
            trainer.secrets.without_secrets(os.environ),
            verify_only=verify_only,
            patience_s=trainer.settings.replay_patience_s,
        )


def _recording(run: RunDirectory, episode: int) -> EpisodeRecording:
    with StoreView(run) as view:
        recording = view.read(lambda reader: reader.recording(episode))
    if recording is None:
        raise NoSuchEpisodeError(run.run_id, episode)
    if isinstance(recording, str):
        raise NotReplayableError(episode, recording)
    return recording


async def _started(work: Coroutine[Any, Any, Simulation]) -> Simulation:
    """The simulation; ended when the client leaves before it has started."""
    starting = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _over(starting)
        if starting.exception() is None:
            await in_long_thread(starting.result().close)
        raise


async def _over(work: asyncio.Future[Any]) -> None:
    """Waits for its end; what went wrong in it was told, or matters no more."""
    await asyncio.wait({work})
    if not work.cancelled():
        work.exception()


async def _opening(requests: AsyncIterator[pb.ResimulateRequest]) -> pb.OpenSimulation:
    first = await anext(requests, None)
    if first is None or first.WhichOneof("what") != "open":
        raise BadRequestError(
            "open", "is missing.", "The first request says which episode of which run to replay."
        )
    return first.open


async def _pass_on(
    requests: AsyncIterator[pb.ResimulateRequest],
    simulation: Simulation,
    opening: pb.OpenSimulation,
) -> None:
    """What the client asks for; a request that makes no sense ends the simulation."""
    try:
        async for request in requests:
            asked = _frames_asked_for(request, opening)
            simulation.ask(
                checked_whole("frames.request", asked.request, 1, LARGEST_CURSOR),
                checked_whole("frames.first", asked.first, 0, simulation.steps),
                checked_whole("frames.count", asked.count, 0, LARGEST_CURSOR),
            )
        simulation.no_more_requests()
    except BaseException:
        simulation.kill()
        raise


def _frames_asked_for(
    request: pb.ResimulateRequest, opening: pb.OpenSimulation
) -> pb.SimulateFrames:
    if opening.verify_only:
        raise BadRequestError(
            "frames", "were asked of a replay that only verifies.", "Open it without `verify_only`."
        )
    if request.WhichOneof("what") != "frames":
        raise BadRequestError(
            "frames", "is missing.", "Every request after the first asks for frames."
        )
    return request.frames


def _message(part: SimulationPart) -> pb.ResimulatePart:
    told = part.message
    if isinstance(told, Frame):
        frame = pb.SimulatedFrame(
            index=told.index,
            width=told.width,
            height=told.height,
            channels=told.channels,
            zstd=part.zstd,
            problem=told.problem,
        )
        return pb.ResimulatePart(request=told.request, frame=frame)
    if isinstance(told, Checked):
        checked = pb.SimulationChecked(
            steps=told.steps,
            is_over=told.is_over,
            first_difference=told.first_difference,
            difference=told.difference,
        )
        return pb.ResimulatePart(checked=checked)
    if isinstance(told, Done):
        return pb.ResimulatePart(request=told.request, done=pb.FramesDone())
    opened = pb.SimulationOpened(steps=told.steps, fps=told.fps, warnings=part.warnings)
    return pb.ResimulatePart(opened=opened)

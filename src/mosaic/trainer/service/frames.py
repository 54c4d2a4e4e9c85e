"""StreamFrames: the newest frame of a run, at most at the requested rate."""

import asyncio
from collections.abc import AsyncIterator

from mosaic.contract.frame_file import FrameReader, FrameView
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.service.following import is_finished
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import checked_number

_FPS = 30.0
_MAX_FPS = 240.0
_POLL_S = 0.005
"""While frames arrive: the response to an input should be visible at once."""
_IDLE_POLL_S = 0.05
_IDLE_AFTER_S = 2.0
_CHECK_FINISHED_S = 0.5


class FrameServicer(PartialServicer):
    """Frames are read from the worker's frame file, only while a client is connected."""

    async def StreamFrames(
        self, request: pb.StreamFramesRequest, _: Context
    ) -> AsyncIterator[pb.Frame]:
        fps = checked_number("max_fps", request.max_fps, 0.0, _MAX_FPS) or _FPS
        run = await existing_run(self._trainer, request.run_id)
        reader = FrameReader(run.frames)
        loop = asyncio.get_running_loop()
        sent_at = checked_at = float("-inf")
        number = 0
        async with ThreadBound(reader, reader.close) as bound:
            while True:
                now = loop.time()
                was_finished = False
                if now - checked_at >= _CHECK_FINISHED_S:
                    # Checked before reading: the last frame is written before the run is finished.
                    was_finished = await bound.run(is_finished, self._trainer, run.run_id)
                    checked_at = now
                frame = await bound.run(reader.newest, number)
                if frame is not None:
                    number, sent_at = frame.number, loop.time()
                    yield _message(frame)
                if was_finished:
                    return
                await asyncio.sleep(_pause_s(loop.time() - sent_at, 1.0 / fps))


def _pause_s(since_last_s: float, min_interval_s: float) -> float:
    if since_last_s > _IDLE_AFTER_S:
        return _IDLE_POLL_S
    return max(_POLL_S, min_interval_s - since_last_s)


def _message(frame: FrameView) -> pb.Frame:
    return pb.Frame(
        number=frame.number,
        width=frame.width,
        height=frame.height,
        channels=frame.channels,
        step=frame.step,
        control_seq=frame.control_seq,
        step_json=frame.step_json,
        pixels=frame.pixels,
    )

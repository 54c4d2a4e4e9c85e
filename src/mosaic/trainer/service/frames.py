"""StreamFrames: the newest picture of a run, and never more of them than the client wants."""

import asyncio
from collections.abc import AsyncIterator

from mosaic.contract.frame_file import FrameReader, FrameView
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.service.following import is_over
from mosaic.trainer.service.partial_servicer import Context, ServicePart, existing_run
from mosaic.trainer.service.request_checks import checked_number

_FPS = 30.0
_MOST_FPS = 240.0
_LOOK_EVERY_S = 0.005
"""While frames come: what a person does should be seen at once."""
_LOOK_SELDOM_S = 0.05
_COME_NO_MORE_S = 2.0
_ASK_WHETHER_OVER_S = 0.5


class FrameCalls(ServicePart):
    """Frames are read from the file that the worker writes; there is no work without a client."""

    async def StreamFrames(
        self, request: pb.StreamFramesRequest, _: Context
    ) -> AsyncIterator[pb.Frame]:
        fps = checked_number("max_fps", request.max_fps, 0.0, _MOST_FPS) or _FPS
        run = await existing_run(self._trainer, request.run_id)
        reader = FrameReader(run.frames)
        loop = asyncio.get_running_loop()
        sent_at = asked_at = float("-inf")
        number = 0
        async with ThreadBound(reader, reader.close) as bound:
            while True:
                now = loop.time()
                was_over = False
                if now - asked_at >= _ASK_WHETHER_OVER_S:
                    # Asked before reading: the last frame is there when the run is over.
                    was_over = await bound.run(is_over, self._trainer, run.run_id)
                    asked_at = now
                frame = await bound.run(reader.newest, number)
                if frame is not None:
                    number, sent_at = frame.number, loop.time()
                    yield _message(frame)
                if was_over:
                    return
                await asyncio.sleep(_pause_s(loop.time() - sent_at, 1.0 / fps))


def _pause_s(since_last_s: float, least_s: float) -> float:
    if since_last_s > _COME_NO_MORE_S:
        return _LOOK_SELDOM_S
    return max(_LOOK_EVERY_S, least_s - since_last_s)


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

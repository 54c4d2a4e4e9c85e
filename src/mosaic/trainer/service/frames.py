"""Frames: the newest frame of a run (StreamFrames) and thumbnails (DrawEnvironment)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.frame_file import FrameReader, FrameView
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import ThreadBound
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_integer,
    checked_line,
    checked_lines,
    checked_number,
)
from mosaic.trainer.service.store_view import is_finished
from mosaic.trainer.thumbnails.thumbnail_service import ThumbnailRequest, ThumbnailService

_FPS = 30.0
_MAX_FPS = 240.0
_POLL_S = 0.005
"""While frames arrive: the response to an input should be visible at once."""
_IDLE_POLL_S = 0.05
_IDLE_AFTER_S = 2.0
_CHECK_FINISHED_S = 0.5

_MAX_SEED = (1 << 32) - 1
_MAX_KWARGS_BYTES = 32 << 10
_MAX_ENV_ID_LENGTH = 300
_MAX_FOLDER_LENGTH = 4096


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


class ThumbnailServicer(PartialServicer):
    """Nothing is cached here; clients cache thumbnails."""

    _thumbnails: ThumbnailService

    async def DrawEnvironment(
        self, request: pb.DrawEnvironmentRequest, _: Context
    ) -> pb.EnvironmentPicture:
        env_id = checked_line("env_id", request.env_id, _MAX_ENV_ID_LENGTH).strip()
        if not env_id:
            raise BadRequestError("env_id", "is empty.", "Name the environment to render.")
        thumbnail_request = ThumbnailRequest(
            env_id=env_id,
            env_kwargs=_keywords(request.env_kwargs_json),
            seed=checked_integer("seed", request.seed, 0, _MAX_SEED),
            python_path=_folders(request),
        )
        thumbnail = await self._thumbnails.render(thumbnail_request)
        return pb.EnvironmentPicture(
            width=thumbnail.width,
            height=thumbnail.height,
            channels=thumbnail.channels,
            pixels=thumbnail.pixels,
        )


def _keywords(document: bytes) -> dict[str, Any]:
    if len(document) > _MAX_KWARGS_BYTES:
        raise BadRequestError(
            "env_kwargs_json",
            f"has {len(document)} bytes.",
            f"Shorten it to {_MAX_KWARGS_BYTES} or fewer.",
        )
    try:
        return msgspec.json.decode(document, type=dict[str, Any]) if document else {}
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadRequestError(
            "env_kwargs_json",
            f"is not a JSON object: {error}.",
            "Send an object of keyword arguments.",
        ) from error


def _folders(request: pb.DrawEnvironmentRequest) -> tuple[str, ...]:
    folders = checked_lines("python_path", request.python_path, _MAX_FOLDER_LENGTH)
    for folder in folders:
        if not Path(folder).is_absolute():
            raise BadRequestError("python_path", "has a relative path.", "Send absolute paths.")
    return folders

"""DrawEnvironment: a thumbnail of an environment."""

from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_integer,
    checked_line,
    checked_lines,
)
from mosaic.trainer.thumbnails.thumbnail_service import ThumbnailRequest, ThumbnailService

_MAX_SEED = (1 << 32) - 1
_MAX_KWARGS_BYTES = 32 << 10
_MAX_ENV_ID_LENGTH = 300
_MAX_FOLDER_LENGTH = 4096


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

"""DrawEnvironment: what an environment looks like, for whoever is about to choose one."""

from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.service.partial_servicer import Context, ServicePart
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_line,
    checked_lines,
    checked_whole,
)
from mosaic.trainer.thumbnails.thumbnail_service import PictureWish, Studio

_LARGEST_SEED = (1 << 32) - 1
_LONGEST_KWARGS_BYTES = 32 << 10
_LONGEST_ENV_ID = 300
_LONGEST_FOLDER = 4096


class PictureCalls(ServicePart):
    """Nothing is kept: the client knows which pictures it will want again."""

    _studio: Studio

    async def DrawEnvironment(
        self, request: pb.DrawEnvironmentRequest, _: Context
    ) -> pb.EnvironmentPicture:
        env_id = checked_line("env_id", request.env_id, _LONGEST_ENV_ID).strip()
        if not env_id:
            raise BadRequestError("env_id", "is empty.", "Say which environment to draw.")
        wish = PictureWish(
            env_id=env_id,
            env_kwargs=_keywords(request.env_kwargs_json),
            seed=checked_whole("seed", request.seed, 0, _LARGEST_SEED),
            python_path=_folders(request),
        )
        drawn = await self._studio.draw(wish)
        return pb.EnvironmentPicture(
            width=drawn.width, height=drawn.height, channels=drawn.channels, pixels=drawn.pixels
        )


def _keywords(document: bytes) -> dict[str, Any]:
    if len(document) > _LONGEST_KWARGS_BYTES:
        raise BadRequestError(
            "env_kwargs_json",
            f"has {len(document)} bytes.",
            f"Shorten it to {_LONGEST_KWARGS_BYTES} or fewer.",
        )
    try:
        return msgspec.json.decode(document, type=dict[str, Any]) if document else {}
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadRequestError(
            "env_kwargs_json", f"is no JSON object: {error}.", "Send an object of keywords."
        ) from error


def _folders(request: pb.DrawEnvironmentRequest) -> tuple[str, ...]:
    folders = checked_lines("python_path", request.python_path, _LONGEST_FOLDER)
    for folder in folders:
        if not Path(folder).is_absolute():
            raise BadRequestError("python_path", "has a relative path.", "Send whole paths.")
    return folders

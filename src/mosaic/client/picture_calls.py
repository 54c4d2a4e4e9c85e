"""What environments look like, drawn by the daemon. For the window's picker and for notebooks."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mosaic.client.call_group import CallGroup
from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message

_TIMEOUT_S = 180.0
"""Pictures are drawn one after the other, so this one may have to wait for others."""


class EnvironmentPicture(msgspec.Struct, kw_only=True, frozen=True):
    """`pixels` has `height` rows of `width` pixels of `channels` bytes: 1 grey, 3 RGB, 4 RGBA."""

    width: int
    height: int
    channels: int
    pixels: bytes


class PictureCalls(CallGroup):
    """Pictures of environments that nobody plays."""

    def environment_picture(
        self,
        env_id: str,
        env_kwargs: Mapping[str, Any] | None = None,
        seed: int = 0,
        *,
        python_path: Sequence[str] = (),
    ) -> EnvironmentPicture:
        """What the environment looks like after a reset, at most 320 pixels wide and high.

        Takes a second when the last one was more than a few seconds ago, else a tenth of that; any
        number may be asked for at once, and come one by one. Nothing is installed and no run is
        made. `python_path` has folders with modules of one's own, for an id as `module:Id`.

        Raises `TrainerError` with a remedy: the packages are not installed (code T470), there is no
        such environment or it cannot be made (T471), it draws nothing (T472), it crashes (T473) or
        hangs (T474).
        """
        try:
            keywords = msgspec.json.encode(dict(env_kwargs)) if env_kwargs else b""
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise UserError(
                f"The settings of {env_id} cannot be sent: {error}.",
                remedy="Give numbers, texts, lists or nothing.",
                code="C370",
            ) from error
        answer = self._connection.call(
            lambda stub: stub.DrawEnvironment,
            pb.DrawEnvironmentRequest(
                env_id=env_id, env_kwargs_json=keywords, seed=seed, python_path=python_path
            ),
            timeout_s=_TIMEOUT_S,
        )
        return from_message(answer, EnvironmentPicture)

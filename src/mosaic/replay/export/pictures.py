"""Frames as pictures of one size, whatever the environment drew."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mosaic.contract.errors import UserError
from mosaic.replay.export.media_libraries import pillow
from mosaic.replay.replay_frame import ReplayFrame

if TYPE_CHECKING:
    from PIL import Image

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


class PictureMaker:
    """Makes pictures of the size of the first one; others are fitted in, with black around them.

    A frame without a picture repeats the one before it; those before the first one wait for it.
    """

    def __init__(self) -> None:
        self._latest: Image.Image | None = None
        self._waiting: list[int] = []
        self._problem = ""

    def pictures_for(self, frame: ReplayFrame) -> "Iterator[tuple[int, Image.Image]]":
        """Those that can be shown now, with their frame's index."""
        if frame.has_picture and frame.channels in _MODES:
            self._latest = _fitted(_image_of(frame), self._latest)
        elif not self._problem:
            self._problem = frame.problem or f"It draws {frame.channels} values for each pixel."
        self._waiting.append(frame.index)
        if self._latest is not None:
            waiting, self._waiting = self._waiting, []
            for index in waiting:
                yield index, self._latest

    def check(self) -> None:
        """At the end: raises `UserError` when there was not a single picture."""
        if self._latest is None:
            raise UserError(
                f"There are no pictures of this episode: {self._problem or 'none came.'}",
                remedy="Export it as JSONL instead.",
                code="C182",
            )


def _image_of(frame: ReplayFrame) -> "Image.Image":
    mode = _MODES[frame.channels]
    drawn: Image.Image = pillow().frombytes(mode, (frame.width, frame.height), frame.pixels)
    return drawn if mode == "RGB" else drawn.convert("RGB")


def _fitted(picture: "Image.Image", like: "Image.Image | None") -> "Image.Image":
    if like is None or picture.size == like.size:
        return picture
    image = pillow()
    scale = min(like.width / picture.width, like.height / picture.height)
    width = min(like.width, max(1, round(picture.width * scale)))
    height = min(like.height, max(1, round(picture.height * scale)))
    canvas: Image.Image = image.new("RGB", like.size)
    canvas.paste(
        picture.resize((width, height), image.Resampling.LANCZOS),
        ((like.width - width) // 2, (like.height - height) // 2),
    )
    return canvas

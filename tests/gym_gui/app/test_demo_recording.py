"""The animation of the README: frames, their durations, and what is stored of them."""

from pathlib import Path

import pytest
from PIL import Image, ImageSequence
from PySide6.QtGui import QColor, QImage

from gym_gui.app.demo_recording import AnimationWriter


def make_frame(colour: str, *, width: int = 300) -> QImage:
    image = QImage(width, 120, QImage.Format.Format_RGB32)
    image.fill(QColor("#202020"))
    for x in range(40):
        image.setPixelColor(x, 10, QColor(colour))
    return image


@pytest.fixture
def animation() -> AnimationWriter:
    animation = AnimationWriter(200)
    animation.add(make_frame("red"), 400)
    animation.add(make_frame("lime"), 250)
    animation.add(make_frame("blue"), 1000)
    return animation


def test_frames_are_scaled_and_keep_their_durations(
    animation: AnimationWriter, tmp_path: Path
) -> None:
    """The file loops forever."""
    path = tmp_path / "demo.gif"
    animation.write(path)
    assert animation.duration_s == pytest.approx(1.65)
    with Image.open(path) as image:
        assert image.size == (200, 80)
        assert image.info["loop"] == 0
        durations = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
    assert durations == [400, 250, 1000]


def test_colours_of_all_frames_are_in_the_palette(
    animation: AnimationWriter, tmp_path: Path
) -> None:
    """Also those that only one frame has."""
    path = tmp_path / "demo.gif"
    animation.write(path)
    with Image.open(path) as image:
        for index, channel in enumerate((0, 1, 2)):
            image.seek(index)
            pixel = image.convert("RGB").getpixel((5, 6))
            assert isinstance(pixel, tuple)
            assert max(range(3), key=pixel.__getitem__) == channel
            background = image.convert("RGB").getpixel((150, 60))
            assert background == (32, 32, 32)

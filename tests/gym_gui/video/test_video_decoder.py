"""VideoDecoder: frames at any position, and errors for files that cannot be played."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.video.feed import VideoDecoder, VideoFrame
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.video_files import grey_of, write_video

FRAMES = 150


@pytest.fixture
def decoder(tmp_path: Path) -> Iterator[VideoDecoder]:
    decoder = VideoDecoder(write_video(tmp_path / "video.mp4", FRAMES), lambda: None)
    yield decoder
    decoder.close()
    assert decoder.join(10)


def wait_for_frame(decoder: VideoDecoder, index: int, qtbot: QtBot) -> VideoFrame:
    qtbot.waitUntil(lambda: decoder.frame(index) is not None, timeout=TIMEOUT_MS)
    frame = decoder.frame(index)
    assert frame is not None
    return frame


def test_seek_returns_the_requested_frame(decoder: VideoDecoder, qtbot: QtBot) -> None:
    """A seek ends at the frame, not at the key frame before it."""
    qtbot.waitUntil(lambda: decoder.info is not None, timeout=TIMEOUT_MS)
    assert decoder.info is not None
    assert (decoder.info.frames, decoder.info.fps) == (FRAMES, 20.0)
    decoder._max_cached = 12  # a small cache forces seeks
    for index in (0, 149, 3, *random.Random(2).sample(range(FRAMES), 8)):
        decoder.request(index)
        frame = wait_for_frame(decoder, index, qtbot)
        assert abs(frame.pixels[0] - grey_of(index)) < 12


@pytest.mark.parametrize(
    ("content", "code"), [(None, "C345"), (b"this is not a video" * 100, "C346")]
)
def test_unplayable_file_has_an_error(
    content: bytes | None, code: str, tmp_path: Path, qtbot: QtBot
) -> None:
    """A missing or damaged file has a remedy, and the thread ends."""
    path = tmp_path / "video.mp4"
    if content is not None:
        path.write_bytes(content)
    decoder = VideoDecoder(path, lambda: None)
    qtbot.waitUntil(lambda: decoder.error is not None, timeout=TIMEOUT_MS)
    assert decoder.error is not None
    assert decoder.error.code == code
    assert decoder.error.remedy
    assert decoder.join(10)

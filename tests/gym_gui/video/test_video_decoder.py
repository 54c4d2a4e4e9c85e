"""VideoDecoder: the right picture for every position, and words for files that have none."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.video.feed import VideoDecoder, VideoFrame
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.videos import grey_of, write_video

FRAMES = 150


@pytest.fixture
def decoder(tmp_path: Path) -> Iterator[VideoDecoder]:
    made = VideoDecoder(write_video(tmp_path / "film.mp4", FRAMES), lambda: None)
    yield made
    made.close()
    assert made.join(10)


def awaited(decoder: VideoDecoder, index: int, qtbot: QtBot) -> VideoFrame:
    qtbot.waitUntil(lambda: decoder.frame(index) is not None, timeout=PATIENCE_MS)
    frame = decoder.frame(index)
    assert frame is not None
    return frame


def test_every_position_shows_its_own_picture(decoder: VideoDecoder, qtbot: QtBot) -> None:
    """Forwards, backwards and far away: a seek ends at the picture, not at the key frame."""
    qtbot.waitUntil(lambda: decoder.info is not None, timeout=PATIENCE_MS)
    assert decoder.info is not None
    assert (decoder.info.frames, decoder.info.fps) == (FRAMES, 20.0)
    decoder._most_kept = 12  # so that little is kept and much is sought
    for index in (0, 149, 3, *random.Random(2).sample(range(FRAMES), 8)):
        decoder.want(index)
        frame = awaited(decoder, index, qtbot)
        assert abs(frame.pixels[0] - grey_of(index)) < 12


@pytest.mark.parametrize(("content", "code"), [(None, "C345"), (b"this is no video" * 100, "C346")])
def test_a_file_that_cannot_be_played_says_why(
    content: bytes | None, code: str, tmp_path: Path, qtbot: QtBot
) -> None:
    """Missing or damaged: a message with a remedy, and the thread ends."""
    path = tmp_path / "film.mp4"
    if content is not None:
        path.write_bytes(content)
    decoder = VideoDecoder(path, lambda: None)
    qtbot.waitUntil(lambda: decoder.error is not None, timeout=PATIENCE_MS)
    assert decoder.error is not None
    assert decoder.error.code == code
    assert decoder.error.remedy
    assert decoder.join(10)

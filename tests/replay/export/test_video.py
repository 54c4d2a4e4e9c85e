"""MP4 and GIF, decoded again: every frame with its size and duration."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from mosaic.client.resimulation import SimulatedFrame, SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.export.export_request import ExportFormat
from tests.replay.export.conftest import Export
from tests.replay.stand_in import StandInClient, colour_of, make_frame, make_missing_frame

MP4, GIF = ExportFormat.MP4, ExportFormat.GIF
Pixel = tuple[int, ...]


def mp4_pictures(path: Path) -> list[Image.Image]:
    with av.open(str(path)) as container:
        frames: Iterable[Any] = container.decode(video=0)
        return [frame.to_image() for frame in frames]


def gif_frames(path: Path) -> tuple[list[Image.Image], list[int]]:
    """The frames and their durations in ms."""
    pictures, durations = [], []
    with Image.open(path) as image:
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            pictures.append(image.convert("RGB"))
            durations.append(round(image.info["duration"]))
    return pictures, durations


def pixel(picture: Image.Image, x: int, y: int) -> Pixel:
    found = picture.getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def is_near(seen: Pixel, expected: Pixel, tolerance: int = 12) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(seen, expected, strict=True))


def test_mp4_contains_every_frame(export: Export) -> None:
    """H.264 with yuv420p, at the frame rate of the environment."""
    result = export(StandInClient(steps=10), MP4)
    assert (result.frames, result.duration_s) == (11, 11 / 25)
    assert result.size_bytes == result.path.stat().st_size
    with av.open(str(result.path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert stream.average_rate == 25
        assert container.duration == pytest.approx(11 / 25 * 1e6, rel=0.01)
    pictures = mp4_pictures(result.path)
    assert len(pictures) == 11
    for index, picture in enumerate(pictures):
        assert is_near(pixel(picture, 16, 12), colour_of(index)), index


def test_gif_contains_every_frame_in_colour(export: Export) -> None:
    """The colours are exact, and it loops forever."""
    result = export(StandInClient(steps=10), GIF)
    pictures, durations = gif_frames(result.path)
    assert len(pictures) == result.frames == 11
    assert durations == [40] * 11
    assert [pixel(picture, 16, 12) for picture in pictures] == [colour_of(k) for k in range(11)]
    with Image.open(result.path) as image:
        assert image.info["loop"] == 0


def test_delays_of_a_gif_add_up(export: Export) -> None:
    """30 fps is not a multiple of a GIF tick: rounding errors do not add up."""
    result = export(StandInClient(steps=29), GIF, fps=30)
    durations = gif_frames(result.path)[1]
    assert set(durations) == {30, 40}
    assert sum(durations) == 1000


def test_gif_frame_rate_is_limited(export: Export) -> None:
    """At 200 fps three of four frames are skipped, but never the last."""
    result = export(StandInClient(steps=99), GIF, fps=50, speed=4)
    pictures, durations = gif_frames(result.path)
    assert len(pictures) == result.frames == pytest.approx(25, abs=1)
    assert set(durations) == {20}
    assert pixel(pictures[0], 1, 1) == colour_of(0)
    assert pixel(pictures[-1], 1, 1) == colour_of(99)


def test_speed_of_an_mp4(export: Export) -> None:
    """Double speed halves the duration; beyond 60 fps frames are skipped."""
    fast = export(StandInClient(steps=49), MP4, fps=25, speed=2)
    assert (fast.frames, fast.duration_s) == (50, 1.0)
    faster = export(StandInClient(steps=199), MP4, fps=50, speed=4, overwrite=True)
    assert len(mp4_pictures(faster.path)) == faster.frames == pytest.approx(60, abs=1)


@pytest.mark.parametrize("kind", [MP4, GIF])
def test_range(export: Export, kind: ExportFormat) -> None:
    """The frame before the first step, and one after each step."""
    client = StandInClient(steps=50)
    result = export(client, kind, first_step=10, last_step=14)
    assert result.frames == 6
    assert client.made == [10, 11, 12, 13, 14, 15]


@pytest.mark.parametrize("steps", [range(50, 60), range(20, 10), range(10, 11)])
def test_range_outside_episode(export: Export, steps: range) -> None:
    """It is rejected with the number of steps."""
    with pytest.raises(UserError, match="has 10"):
        export(StandInClient(steps=10), MP4, first_step=steps.start, last_step=steps.stop)


@pytest.mark.parametrize("kind", [MP4, GIF])
def test_odd_sizes(export: Export, kind: ExportFormat) -> None:
    """H.264 requires even sizes: the frame is padded."""
    client = StandInClient(steps=2)
    client.draw = lambda index: make_frame(index, width=33, height=25)
    result = export(client, kind)
    pictures = mp4_pictures(result.path) if kind is MP4 else gif_frames(result.path)[0]
    assert pictures[1].size == ((34, 26) if kind is MP4 else (33, 25))
    assert is_near(pixel(pictures[1], 10, 10), colour_of(1))


def test_frames_that_change_size(export: Export) -> None:
    """They are fitted into the size of the first, with a black border."""
    client = StandInClient(steps=1)
    client.draw = lambda index: (
        make_frame(index) if index == 0 else make_frame(1, width=48, height=48)
    )
    pictures, _ = gif_frames(export(client, GIF).path)
    assert [picture.size for picture in pictures] == [(32, 24), (32, 24)]
    assert pixel(pictures[1], 16, 12) == colour_of(1)
    assert pixel(pictures[1], 1, 12) == pixel(pictures[1], 30, 12) == (0, 0, 0)


@pytest.mark.parametrize("channels", [1, 4])
def test_grey_and_transparent_frames(export: Export, channels: int) -> None:
    """They are converted to RGB."""
    client = StandInClient(steps=1)
    client.draw = lambda index: make_frame(index, channels=channels)
    pictures, _ = gif_frames(export(client, GIF).path)
    red = colour_of(1)[0]
    assert pixel(pictures[1], 5, 5) == ((red, red, red) if channels == 1 else colour_of(1))


@pytest.mark.parametrize("kind", [MP4, GIF])
def test_episode_without_any_frame(export: Export, tmp_path: Path, kind: ExportFormat) -> None:
    """An error with the reason and an alternative; no file is left."""
    client = StandInClient()
    client.draw = make_missing_frame
    with pytest.raises(UserError, match="has no pictures") as caught:
        export(client, kind)
    assert "JSONL" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_some_frames_missing(export: Export) -> None:
    """The previous frame is repeated; before the first one, the first is used."""
    client = StandInClient(steps=4)

    def draw(index: int) -> SimulatedFrame:
        return make_frame(index) if index in (1, 3) else make_missing_frame(index)

    client.draw = draw
    pictures, durations = gif_frames(export(client, GIF).path)
    seen = [pixel(picture, 5, 5) for picture in pictures]
    assert seen == [colour_of(k) for k in (1, 1, 1, 3, 3)]
    assert sum(durations) == 5 * 40


def test_differing_replay_is_reported(export: Export) -> None:
    """The file is written, and the result has the step."""
    client = StandInClient(steps=10)
    client.warnings = ("Packages differ.",)
    client.checks = [
        SimulationChecked(steps=4, is_over=True, first_difference=4, difference="reward 0, not 1")
    ]
    result = export(client, GIF)
    assert result.first_difference == 4
    assert result.warnings[0] == "Packages differ."
    assert "step 4" in result.warnings[1]
    assert export(client, GIF, last_step=3, overwrite=True).first_difference is None


def test_episode_without_steps(export: Export) -> None:
    """It is one frame."""
    assert export(StandInClient(steps=0), MP4).frames == 1


def test_crashing_simulation(export: Export, tmp_path: Path) -> None:
    """Its error is raised, and no incomplete file is left."""
    client = StandInClient()
    client.breaks_at = 4
    with pytest.raises(UserError, match="crashed"):
        export(client, MP4)
    assert list(tmp_path.iterdir()) == []


def test_frames_that_cannot_be_encoded(export: Export, tmp_path: Path) -> None:
    """They are reported with a remedy and leave no file."""
    client = StandInClient(steps=1)
    client.draw = lambda index: make_frame(index, width=20_000, height=2)
    with pytest.raises(UserError, match="20000 x 2 pixels cannot be encoded as MP4") as caught:
        export(client, ExportFormat.MP4)
    assert "JSONL" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"fps": math.nan}, {"speed": math.inf}, {"fps": -1.0}])
def test_invalid_rate_is_rejected(export: Export, options: dict[str, float]) -> None:
    """It is rejected by name."""
    with pytest.raises(UserError, match=f"`{next(iter(options))}` must be"):
        export(StandInClient(), ExportFormat.GIF, **options)

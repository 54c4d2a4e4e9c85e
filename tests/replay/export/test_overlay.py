"""Captions: their text, and their position at any frame size."""

import msgspec
import pytest
from PIL import Image

from mosaic.contract.events import StepRecord
from mosaic.replay.export.export_request import ExportFormat
from mosaic.replay.export.overlay import ActionNames, Caption, Captions, Overlay
from tests.replay.export.conftest import Export
from tests.replay.export.test_video import gif_frames, mp4_pictures
from tests.replay.stand_in import StandInClient, colour_of

LANDER = msgspec.json.encode(
    {
        "type": "environment",
        "env_id": "LunarLander-v3",
        "action_space": {"type": "discrete", "n": 2, "start": 0},
        "action_meanings": ["NOOP", "FIRE"],
    }
)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (1, "1 (fire)"),
        (7, "7"),
        (0.123456, "0.12"),
        ([0.5, -1.0], "[0.50, -1.00]"),
        ([1, 0], "[1, 0]"),
        ({"a": 1}, '{"a": 1}'),
        (True, "true"),
    ],
)
def test_action_names(action: object, text: str) -> None:
    """With their names if the environment reports them."""
    assert ActionNames(LANDER).text(action) == text


def test_action_names_with_start_offset() -> None:
    """The action space has the offset."""
    environment = msgspec.json.decode(LANDER) | {"action_space": {"type": "discrete", "start": 3}}
    names = ActionNames(msgspec.json.encode(environment))
    assert (names.text(3), names.text(0)) == ("3 (noop)", "0")
    assert ActionNames(None).text(1) == "1"


def test_action_names_from_catalog() -> None:
    """The catalog has names, which are used only if the action space matches."""
    lake = {"type": "environment", "env_id": "FrozenLake-v1"}
    four = msgspec.json.encode(lake | {"action_space": {"type": "discrete", "n": 4, "start": 0}})
    assert ActionNames(four).text(2) == "2 (right)"
    nine = msgspec.json.encode(lake | {"action_space": {"type": "discrete", "n": 9, "start": 0}})
    assert ActionNames(nine).text(2) == "2"


def test_captions_of_frames() -> None:
    """Frame k is what step k-1 led to; the return adds up."""
    steps = [
        StepRecord(
            episode_id="e", step=k, action=k % 2, reward=1.5, terminated=False, truncated=False
        )
        for k in range(3)
    ]
    captions = Captions(steps, ActionNames(LANDER), 2)
    assert captions.get(0) == Caption(step="start")
    assert captions.get(2).cells() == ("step 1/2", "action 1 (fire)", "reward 1.5", "return 3")
    assert captions.get(9) == Caption(step="step 8/2")


@pytest.mark.parametrize("size", [(8, 8), (160, 210), (600, 400), (1921, 1081)])
def test_caption_is_legible_at_any_size(size: tuple[int, int]) -> None:
    """White text is below the frame, inside the strip; tiny frames are enlarged."""
    overlay = Overlay(*size)
    caption = Caption(
        step="step 10/99", action="action " + "long " * 99, reward="reward 1", total_return="return"
    )
    frame = overlay.draw(Image.new("RGB", size, (200, 0, 0)), caption)
    width, height = overlay.size
    assert frame.size == (width, height)
    assert width >= 320
    frame_height = size[1] * (width // size[0])
    assert frame.crop((0, 0, width, frame_height)).getcolors() == [
        (width * frame_height, (200, 0, 0))
    ]
    strip = frame.crop((0, frame_height, width, height)).convert("L")
    text_box = strip.point(lambda value: 255 if value > 128 else 0).getbbox()
    assert text_box is not None
    left, top, right, bottom = text_box
    assert 0 < left < right < width
    assert 0 < top < bottom < strip.height
    assert bottom - top >= 20  # two lines of letters that can be read
    empty = overlay.draw(Image.new("RGB", size), Caption(step=""))
    assert empty.crop((0, frame_height, width, height)).getcolors() == [
        (width * strip.height, (32, 33, 36))
    ]


def test_narrow_high_frame() -> None:
    """It is not enlarged without limit: it is centred, with space for the text."""
    overlay = Overlay(2, 3_000)
    frame = overlay.draw(Image.new("RGB", (2, 3_000), (200, 0, 0)), Caption(step="start"))
    assert frame.size == overlay.size
    assert frame.width == 320
    assert frame.crop((159, 0, 161, 3_000)).getcolors() == [(6_000, (200, 0, 0))]


@pytest.mark.parametrize("kind", [ExportFormat.MP4, ExportFormat.GIF])
def test_a_file_with_captions(export: Export, kind: ExportFormat) -> None:
    """Each frame has a different caption."""
    client = StandInClient(steps=3)
    client.environment_json = LANDER
    result = export(client, kind, overlay=True)
    is_mp4 = kind is ExportFormat.MP4
    frames = mp4_pictures(result.path) if is_mp4 else gif_frames(result.path)[0]
    width, height = Overlay(32, 24).size
    assert {frame.size for frame in frames} == {(width, height + (height % 2) * is_mp4)}
    strips = {frame.crop((0, height * 3 // 4 + 10, width, height)).tobytes() for frame in frames}
    assert len(strips) == len(frames) == 4
    seen = frames[2].getpixel((100, 100))
    assert isinstance(seen, tuple)
    assert all(abs(a - b) <= 12 for a, b in zip(seen, colour_of(2), strict=True))

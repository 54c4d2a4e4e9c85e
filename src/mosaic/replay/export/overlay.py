"""Captions below the frames of a video: step, action, reward and return so far."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.contract.events import EnvironmentEvent, StepRecord
from mosaic.envs.catalog import environment
from mosaic.replay.export.media_libraries import pillow

if TYPE_CHECKING:
    from PIL import Image

_MIN_WIDTH = 320
"""Narrower frames are enlarged, so that the text fits."""
_MAX_HEIGHT = 4_096
"""Frames that would become higher than this are padded at the sides instead."""
_FONT_PER_WIDTH = 1 / 40
_MIN_FONT_SIZE, _MAX_FONT_SIZE = 12, 40
_BACKGROUND, _TEXT = (32, 33, 36), (255, 255, 255)
_LINES, _COLUMNS = 2, 2


@dataclass(frozen=True)
class Caption:
    """The texts of one frame."""

    step: str
    action: str = ""
    reward: str = ""
    total_return: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        """In reading order."""
        return (self.step, self.action, self.reward, self.total_return)


class ActionNames:
    """Names of actions: those that the environment reported, else those of the catalog."""

    def __init__(self, environment_json: bytes | None) -> None:
        self._names: Sequence[str] = ()
        self._start = 0
        if environment_json:
            event = msgspec.json.decode(environment_json, type=EnvironmentEvent)
            space = event.action_space if isinstance(event.action_space, dict) else {}
            start = space.get("start", 0)
            self._start = start if isinstance(start, int) else 0
            self._names = event.action_meanings or _find_catalog_names(event.env_id, space.get("n"))

    def text(self, action: Any) -> str:
        """Return for example `2 (right)` or `[0.25, -1.00]`; other actions as JSON."""
        if isinstance(action, int) and not isinstance(action, bool):
            at = action - self._start
            has_name = 0 <= at < len(self._names)
            return f"{action} ({self._names[at].lower()})" if has_name else str(action)
        if isinstance(action, float):
            return f"{action:.2f}"
        if isinstance(action, list) and all(isinstance(value, (int, float)) for value in action):
            return f"[{', '.join(map(self._format_value, action))}]"
        return json.dumps(action, ensure_ascii=False)

    @staticmethod
    def _format_value(value: float) -> str:
        return f"{value:.2f}" if isinstance(value, float) else str(value)


class Captions:
    """The captions of an episode, from its recorded steps."""

    def __init__(self, steps: Iterable[StepRecord], names: ActionNames, last_step: int) -> None:
        self._last = last_step
        self._by_step: dict[int, Caption] = {}
        total = 0.0
        for step in steps:
            total += step.reward
            self._by_step[step.step] = Caption(
                step=self._format_step(step.step),
                action=f"action {names.text(step.action)}",
                reward=f"reward {_format_number(step.reward)}",
                total_return=f"return {_format_number(total)}",
            )

    def get(self, index: int) -> Caption:
        """Return the caption of frame `index`, which shows the result of step `index - 1`."""
        if index == 0:
            return Caption(step="start")
        return self._by_step.get(index - 1) or Caption(step=self._format_step(index - 1))

    def _format_step(self, step: int) -> str:
        return f"step {step}/{self._last}"


class Overlay:
    """Draws captions below frames of one size."""

    def __init__(self, width: int, height: int) -> None:
        self._scale = max(1, min(math.ceil(_MIN_WIDTH / width), _MAX_HEIGHT // height))
        self._width = max(width * self._scale, _MIN_WIDTH)
        self._height = height * self._scale
        self._frame_size = (width * self._scale, self._height)
        size = round(self._width * _FONT_PER_WIDTH)
        self._font_size = min(_MAX_FONT_SIZE, max(_MIN_FONT_SIZE, size))
        self._font = pillow("ImageFont").load_default(self._font_size)
        self._margin = self._font_size // 2
        self._line_height = math.ceil(self._font_size * 1.4)

    @property
    def size(self) -> tuple[int, int]:
        """Size of the frame with its caption."""
        return self._width, self._height + _LINES * self._line_height + 2 * self._margin

    def draw(self, frame: "Image.Image", caption: Caption) -> "Image.Image":
        """Return a new image with the frame and the caption below it."""
        image_module = pillow()
        if self._scale > 1:
            frame = frame.resize(self._frame_size, image_module.Resampling.NEAREST)
        result: Image.Image = image_module.new("RGB", self.size, _BACKGROUND)
        result.paste(frame, ((self._width - frame.width) // 2, 0))
        pen = pillow("ImageDraw").Draw(result)
        column_width = (self._width - self._margin) // _COLUMNS
        for number, text in enumerate(caption.cells()):
            line, column = divmod(number, _COLUMNS)
            position = (
                self._margin + column * column_width,
                self._height + self._margin + line * self._line_height,
            )
            pen.text(position, self._shorten(text, column_width - self._margin), _TEXT, self._font)
        return result

    def _shorten(self, text: str, width: int) -> str:
        if self._font.getlength(text) <= width:
            return text
        while text and self._font.getlength(f"{text}…") > width:
            text = text[:-1]
        return f"{text}…"


def _find_catalog_names(env_id: str, actions: object) -> Sequence[str]:
    """Return the names in the catalog if their number matches the action space."""
    entry = environment(env_id)
    is_matching = entry.action_kind == "discrete" and len(entry.action_meanings) == actions
    return entry.action_meanings if is_matching else ()


def _format_number(value: float) -> str:
    return f"{value:.4g}"

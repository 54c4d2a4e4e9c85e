"""What happened, below the picture that it led to: step, action, reward and return so far."""

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

_NARROWEST = 320
"""Pictures below this width are enlarged, or there would be no room for words."""
_TALLEST = 4_096
"""Beyond this height they are not: those get room at their sides instead."""
_FONT_PER_WIDTH = 1 / 40
_SMALLEST_FONT, _LARGEST_FONT = 12, 40
_BACKGROUND, _TEXT = (32, 33, 36), (255, 255, 255)
_LINES, _COLUMNS = 2, 2


@dataclass(frozen=True)
class Caption:
    """The words for one picture."""

    step: str
    action: str = ""
    reward: str = ""
    total_return: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        """In reading order."""
        return (self.step, self.action, self.reward, self.total_return)


class ActionNames:
    """What an action means: as the environment said when it was made, else as the catalog does."""

    def __init__(self, environment_json: bytes | None) -> None:
        self._names: Sequence[str] = ()
        self._start = 0
        if environment_json:
            event = msgspec.json.decode(environment_json, type=EnvironmentEvent)
            space = event.action_space if isinstance(event.action_space, dict) else {}
            start = space.get("start", 0)
            self._start = start if isinstance(start, int) else 0
            self._names = event.action_meanings or _catalogued(event.env_id, space.get("n"))

    def text(self, action: Any) -> str:
        """`2 (right)`, `[0.25, -1.00]`; other actions as JSON."""
        if isinstance(action, int) and not isinstance(action, bool):
            at = action - self._start
            named = 0 <= at < len(self._names)
            return f"{action} ({self._names[at].lower()})" if named else str(action)
        if isinstance(action, float):
            return f"{action:.2f}"
        if isinstance(action, list) and all(isinstance(part, (int, float)) for part in action):
            return f"[{', '.join(map(self._part, action))}]"
        return json.dumps(action, ensure_ascii=False)

    @staticmethod
    def _part(value: float) -> str:
        return f"{value:.2f}" if isinstance(value, float) else str(value)


class Captions:
    """The words for each picture of an episode, from its recorded steps."""

    def __init__(self, steps: Iterable[StepRecord], names: ActionNames, last_step: int) -> None:
        self._last = last_step
        self._of_step: dict[int, Caption] = {}
        total = 0.0
        for step in steps:
            total += step.reward
            self._of_step[step.step] = Caption(
                step=self._position(step.step),
                action=f"action {names.text(step.action)}",
                reward=f"reward {_number(step.reward)}",
                total_return=f"return {_number(total)}",
            )

    def of_frame(self, index: int) -> Caption:
        """Frame k is what step k-1 led to."""
        if index == 0:
            return Caption(step="start")
        return self._of_step.get(index - 1) or Caption(step=self._position(index - 1))

    def _position(self, step: int) -> str:
        return f"step {step}/{self._last}"


class Overlay:
    """Draws captions below pictures of one size."""

    def __init__(self, width: int, height: int) -> None:
        self._scale = max(1, min(math.ceil(_NARROWEST / width), _TALLEST // height))
        self._width = max(width * self._scale, _NARROWEST)
        self._height = height * self._scale
        self._picture_size = (width * self._scale, self._height)
        size = round(self._width * _FONT_PER_WIDTH)
        self._font_size = min(_LARGEST_FONT, max(_SMALLEST_FONT, size))
        self._font = pillow("ImageFont").load_default(self._font_size)
        self._margin = self._font_size // 2
        self._line_height = math.ceil(self._font_size * 1.4)

    @property
    def size(self) -> tuple[int, int]:
        """Of the picture with its caption."""
        return self._width, self._height + _LINES * self._line_height + 2 * self._margin

    def draw(self, picture: "Image.Image", caption: Caption) -> "Image.Image":
        """A new picture, with the caption below."""
        image = pillow()
        if self._scale > 1:
            picture = picture.resize(self._picture_size, image.Resampling.NEAREST)
        drawn: Image.Image = image.new("RGB", self.size, _BACKGROUND)
        drawn.paste(picture, ((self._width - picture.width) // 2, 0))
        pen = pillow("ImageDraw").Draw(drawn)
        column_width = (self._width - self._margin) // _COLUMNS
        for number, words in enumerate(caption.cells()):
            line, column = divmod(number, _COLUMNS)
            at = (
                self._margin + column * column_width,
                self._height + self._margin + line * self._line_height,
            )
            pen.text(at, self._fitting(words, column_width - self._margin), _TEXT, self._font)
        return drawn

    def _fitting(self, words: str, room: int) -> str:
        if self._font.getlength(words) <= room:
            return words
        while words and self._font.getlength(f"{words}…") > room:
            words = words[:-1]
        return f"{words}…"


def _catalogued(env_id: str, actions: object) -> Sequence[str]:
    """The catalog's words, if they are for as many actions as there were."""
    entry = environment(env_id)
    is_for_these = entry.action_kind == "discrete" and len(entry.action_meanings) == actions
    return entry.action_meanings if is_for_these else ()


def _number(value: float) -> str:
    return f"{value:.4g}"

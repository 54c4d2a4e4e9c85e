"""What stands on the screen while somebody plays: the scene, its keys, and how it goes."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Literal

import msgspec
from rich.console import Console
from rich.text import Text

from mosaic.cli.formats import real
from mosaic.cli.play.scene_text import Symbols, legend_lines, scene_lines
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyHint
from mosaic.envs.scenes.scene import GridScene, Scene

_GAP = 3
_WIDEST_PANEL = 34
_LEAST_SCENE = 16
_COLOUR_SYSTEMS: dict[str, Literal["standard", "256", "truecolor"]] = {
    "standard": "standard",
    "256": "256",
    "truecolor": "truecolor",
}


class PlayStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How it goes, in numbers and one sentence."""

    env_id: str
    episode: int | None = None
    steps: int = 0
    total_return: float = 0.0
    acting: str = ""
    pace: str = ""
    message: str = ""
    is_alarming: bool = False


class Room(msgspec.Struct, frozen=True):
    """The terminal: how much fits, and which symbols it can show."""

    width: int
    height: int
    symbols: Symbols


def play_lines(
    scene: Scene | None, status: PlayStatus, hints: Sequence[KeyHint], room: Room
) -> list[Text]:
    """The whole screen, in lines that fit."""
    caption = scene.caption if scene else ""
    below = [
        *_wrapped(Text(caption, "italic"), room.width),
        *_wrapped(Text(status.message, "bold red" if status.is_alarming else "bold"), room.width),
    ]
    height = max(0, room.height - 2 - len(below))
    panel = [
        *_hint_lines(hints, room),
        Text(),
        *(legend_lines(scene, room.symbols) if scene else ()),
    ]
    lines = [_head(status), Text(), *_body(scene, panel, room, height), *below]
    return _cut(lines, room)


def help_lines(entry: EnvironmentEntry, hints: Sequence[KeyHint], room: Room) -> list[Text]:
    """What the environment is about, and every key."""
    told = [
        ("Goal", entry.goal),
        ("Actions", entry.actions),
        ("Rewards", entry.rewards),
        ("Ends", entry.ends),
    ]
    lines = [Text(f"{entry.title} ({entry.env_id})", "bold"), Text()]
    lines += _hint_lines(hints, room)
    lines.append(Text())
    for name, text in told:
        if text:
            lines += _wrapped(Text.assemble((f"{name}: ", "bold"), text), room.width)
    lines.append(Text("Any key goes back.", "italic"))
    if len(lines) > room.height:
        lines = [*lines[: room.height - 1], lines[-1]]
    return _cut(lines, room)


def to_ansi(lines: Iterable[Text], console: Console) -> list[str]:
    """The lines as the terminal of `console` takes them, with the colours that it has."""
    drawing = Console(
        file=StringIO(),
        force_terminal=True,
        color_system=_COLOUR_SYSTEMS.get(console.color_system or ""),
        no_color=console.no_color,
        width=10_000,
        highlight=False,
        legacy_windows=False,
    )
    drawn = []
    for line in lines:
        with drawing.capture() as capture:
            drawing.print(line, end="", no_wrap=True, overflow="crop", crop=False)
        drawn.append(capture.get())
    return drawn


def _head(status: PlayStatus) -> Text:
    parts = [Text(status.env_id, "bold")]
    if status.episode is not None:
        parts.append(Text(f"episode {status.episode}"))
        parts.append(Text(f"step {status.steps}"))
        parts.append(Text(f"return {real(status.total_return)}"))
    parts += [Text(word, "cyan") for word in (status.acting, status.pace) if word]
    return Text("  ").join(parts)


def _body(scene: Scene | None, panel: list[Text], room: Room, height: int) -> list[Text]:
    """Side by side where there is room for both, else one under the other."""
    panel_width = min(_WIDEST_PANEL, max((line.cell_len for line in panel), default=0))
    beside = room.width - panel_width - _GAP
    wanted = _least_width(scene)
    if scene is None or beside >= wanted:
        left = scene_lines(scene, beside, height, room.symbols) if scene else []
        return _side_by_side(left, panel[:height])
    drawn = scene_lines(scene, room.width, height, room.symbols)
    return [*drawn, *panel[: max(0, height - len(drawn))]]


def _least_width(scene: Scene | None) -> int:
    """From which width on a scene is better beside its keys than above them."""
    if isinstance(scene, GridScene):
        gaps = scene.columns - 1 if scene.walls else 0
        return max(_LEAST_SCENE, 2 + scene.columns + gaps)
    return 2 * _LEAST_SCENE


def _side_by_side(left: list[Text], right: list[Text]) -> list[Text]:
    width = max((line.cell_len for line in left), default=0)
    lines = []
    for at in range(max(len(left), len(right))):
        line = left[at].copy() if at < len(left) else Text()
        if at < len(right):
            line.append(" " * (width + _GAP - line.cell_len))
            line.append_text(right[at])
        lines.append(line)
    return lines


def _hint_lines(hints: Sequence[KeyHint], room: Room) -> list[Text]:
    caps = [_caps(hint, room) for hint in hints]
    width = max(map(len, caps), default=0)
    return [
        Text.assemble((cap.ljust(width), "bold yellow"), f"  {hint.label}")
        for cap, hint in zip(caps, hints, strict=True)
    ]


def _caps(hint: KeyHint, room: Room) -> str:
    return "+".join(room.symbols.arrows.get(cap, cap) for cap in hint.caps)


def _wrapped(text: Text, width: int) -> list[Text]:
    if not text.plain:
        return []
    return list(text.wrap(Console(width=width, file=StringIO()), max(1, width)))


def _cut(lines: list[Text], room: Room) -> list[Text]:
    for line in lines:
        line.truncate(room.width, overflow="crop")
    return lines[: room.height]

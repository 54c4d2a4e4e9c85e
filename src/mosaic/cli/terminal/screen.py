"""The screen of a play session: header, scene, keys, legend and message."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Literal

import msgspec
from rich.console import Console
from rich.text import Text

from mosaic.cli.formatting import format_number
from mosaic.cli.terminal.scene_text import Symbols, legend_lines, scene_lines
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyHint
from mosaic.envs.scenes.scene import GridScene, Scene

_GAP = 3
_MAX_PANEL_WIDTH = 34
_MIN_SCENE_WIDTH = 16
_COLOUR_SYSTEMS: dict[str, Literal["standard", "256", "truecolor"]] = {
    "standard": "standard",
    "256": "256",
    "truecolor": "truecolor",
}


class PlayStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Stats of the episode and one message."""

    env_id: str
    episode: int | None = None
    steps: int = 0
    total_return: float = 0.0
    actor: str = ""
    speed: str = ""
    message: str = ""
    is_error: bool = False


class Viewport(msgspec.Struct, frozen=True):
    """Size of the terminal, and the symbols it can display."""

    width: int
    height: int
    symbols: Symbols


def play_lines(
    scene: Scene | None, status: PlayStatus, hints: Sequence[KeyHint], viewport: Viewport
) -> list[Text]:
    """Return the screen in lines that fit."""
    caption = scene.caption if scene else ""
    below = [
        *_wrap(Text(caption, "italic"), viewport.width),
        *_wrap(Text(status.message, "bold red" if status.is_error else "bold"), viewport.width),
    ]
    height = max(0, viewport.height - 2 - len(below))
    panel = [
        *_hint_lines(hints, viewport),
        Text(),
        *(legend_lines(scene, viewport.symbols) if scene else ()),
    ]
    lines = [_header(status), Text(), *_body(scene, panel, viewport, height), *below]
    return _crop(lines, viewport)


def help_lines(entry: EnvironmentEntry, hints: Sequence[KeyHint], viewport: Viewport) -> list[Text]:
    """Return the description of the environment and all keys."""
    sections = [
        ("Goal", entry.goal),
        ("Actions", entry.actions),
        ("Rewards", entry.rewards),
        ("Episode end", entry.ends),
    ]
    lines = [Text(f"{entry.title} ({entry.env_id})", "bold"), Text()]
    lines += _hint_lines(hints, viewport)
    lines.append(Text())
    for name, text in sections:
        if text:
            lines += _wrap(Text.assemble((f"{name}: ", "bold"), text), viewport.width)
    lines.append(Text("Press any key to return.", "italic"))
    if len(lines) > viewport.height:
        lines = [*lines[: viewport.height - 1], lines[-1]]
    return _crop(lines, viewport)


def to_ansi(lines: Iterable[Text], console: Console) -> list[str]:
    """Render the lines with the colours that the terminal of `console` supports."""
    renderer = Console(
        file=StringIO(),
        force_terminal=True,
        color_system=_COLOUR_SYSTEMS.get(console.color_system or ""),
        no_color=console.no_color,
        width=10_000,
        highlight=False,
        legacy_windows=False,
    )
    rendered = []
    for line in lines:
        with renderer.capture() as capture:
            renderer.print(line, end="", no_wrap=True, overflow="crop", crop=False)
        rendered.append(capture.get())
    return rendered


def _header(status: PlayStatus) -> Text:
    parts = [Text(status.env_id, "bold")]
    if status.episode is not None:
        parts.append(Text(f"episode {status.episode}"))
        parts.append(Text(f"step {status.steps}"))
        parts.append(Text(f"return {format_number(status.total_return)}"))
    parts += [Text(text, "cyan") for text in (status.actor, status.speed) if text]
    return Text("  ").join(parts)


def _body(scene: Scene | None, panel: list[Text], viewport: Viewport, height: int) -> list[Text]:
    """Return scene and panel side by side if they fit, else one below the other."""
    panel_width = min(_MAX_PANEL_WIDTH, max((line.cell_len for line in panel), default=0))
    scene_width = viewport.width - panel_width - _GAP
    if scene is None or scene_width >= _min_scene_width(scene):
        left = scene_lines(scene, scene_width, height, viewport.symbols) if scene else []
        return _side_by_side(left, panel[:height])
    scene_rows = scene_lines(scene, viewport.width, height, viewport.symbols)
    return [*scene_rows, *panel[: max(0, height - len(scene_rows))]]


def _min_scene_width(scene: Scene | None) -> int:
    """Return the width from which a scene is displayed beside its keys, not above them."""
    if isinstance(scene, GridScene):
        gaps = scene.columns - 1 if scene.walls else 0
        return max(_MIN_SCENE_WIDTH, 2 + scene.columns + gaps)
    return 2 * _MIN_SCENE_WIDTH


def _side_by_side(left: list[Text], right: list[Text]) -> list[Text]:
    width = max((line.cell_len for line in left), default=0)
    lines = []
    for row in range(max(len(left), len(right))):
        line = left[row].copy() if row < len(left) else Text()
        if row < len(right):
            line.append(" " * (width + _GAP - line.cell_len))
            line.append_text(right[row])
        lines.append(line)
    return lines


def _hint_lines(hints: Sequence[KeyHint], viewport: Viewport) -> list[Text]:
    caps = [_caps(hint, viewport) for hint in hints]
    width = max(map(len, caps), default=0)
    return [
        Text.assemble((cap.ljust(width), "bold yellow"), f"  {hint.label}")
        for cap, hint in zip(caps, hints, strict=True)
    ]


def _caps(hint: KeyHint, viewport: Viewport) -> str:
    return "+".join(viewport.symbols.arrows.get(cap, cap) for cap in hint.caps)


def _wrap(text: Text, width: int) -> list[Text]:
    if not text.plain:
        return []
    return list(text.wrap(Console(width=width, file=StringIO()), max(1, width)))


def _crop(lines: list[Text], viewport: Viewport) -> list[Text]:
    for line in lines:
        line.truncate(viewport.width, overflow="crop")
    return lines[: viewport.height]

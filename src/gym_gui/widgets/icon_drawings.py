"""The icons as SVG path data on a 24 x 24 grid, with round line caps. `icons.py` paints them."""

from dataclasses import dataclass
from typing import Literal

IconName = Literal[
    "archive",
    "arrow-down",
    "arrow-left",
    "arrow-right",
    "arrow-up",
    "chart",
    "check",
    "chevron-down",
    "chevron-left",
    "chevron-right",
    "chevron-up",
    "close",
    "command",
    "compare",
    "copy",
    "dice",
    "download",
    "error",
    "export",
    "external",
    "film",
    "filter",
    "folder",
    "frame",
    "fullscreen",
    "grid",
    "help",
    "info",
    "keyboard",
    "layout",
    "link",
    "live",
    "lock",
    "log",
    "minus",
    "moon",
    "more",
    "note",
    "pause",
    "person",
    "play",
    "plus",
    "raw",
    "refresh",
    "replay",
    "reset",
    "robot",
    "runs",
    "search",
    "settings",
    "skip-end",
    "skip-start",
    "speed",
    "star",
    "step",
    "step-back",
    "stop",
    "sun",
    "table",
    "tag",
    "takeover",
    "trash",
    "undo",
    "unlink",
    "unlock",
    "video",
    "warning",
]


@dataclass(frozen=True, slots=True)
class Drawing:
    """SVG path data: `lines` are stroked, `filled` is stroked and filled."""

    lines: str = ""
    filled: str = ""


def _circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius} {radius} 0 1 0"
    return f"M{x - radius} {y}{arc} {2 * radius} 0{arc} {-2 * radius} 0z"


def _box(x: float, y: float, width: float, height: float, radius: float = 2) -> str:
    arc = f"a{radius} {radius} 0 0 1"
    across, down = width - 2 * radius, height - 2 * radius
    return (
        f"M{x + radius} {y}h{across}{arc} {radius} {radius}v{down}{arc} {-radius} {radius}"
        f"h{-across}{arc} {-radius} {-radius}v{-down}{arc} {radius} {-radius}z"
    )


def _dots(*centres: tuple[float, float], radius: float = 0.55) -> str:
    """The stroke around them adds to the radius."""
    return "".join(_circle(x, y, radius) for x, y in centres)


_SCREEN = _box(3.5, 4.5, 17, 15)
_ROUND = _circle(12, 12, 8.5)
_PADLOCK = _box(5, 11, 14, 9.5)
_TRAY = "M4.5 15v3a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2v-3"

DRAWINGS: dict[IconName, Drawing] = {
    "archive": Drawing(
        _box(3.5, 4.5, 17, 4.5, 1.5) + "M5 9v9a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V9M10 13h4"
    ),
    "arrow-down": Drawing("M12 5v14M6 13l6 6 6-6"),
    "arrow-left": Drawing("M19 12H5M11 6l-6 6 6 6"),
    "arrow-right": Drawing("M5 12h14M13 6l6 6-6 6"),
    "arrow-up": Drawing("M12 19V5M6 11l6-6 6 6"),
    "chart": Drawing("M4 4.5v13a2 2 0 0 0 2 2h14M7.5 15l4-5 3 2.5L20 6"),
    "check": Drawing("M5 12.8l4.6 4.6L19 7.5"),
    "chevron-down": Drawing("M6 9.3l6 6 6-6"),
    "chevron-left": Drawing("M14.7 6l-6 6 6 6"),
    "chevron-right": Drawing("M9.3 6l6 6-6 6"),
    "chevron-up": Drawing("M6 14.7l6-6 6 6"),
    "close": Drawing("M6 6l12 12M18 6L6 18"),
    "command": Drawing(
        "M9 9h6v6H9zM9 9V6.5A2.5 2.5 0 1 0 6.5 9H9M15 9h2.5A2.5 2.5 0 1 0 15 6.5V9"
        "M15 15v2.5a2.5 2.5 0 1 0 2.5-2.5H15M9 15H6.5A2.5 2.5 0 1 0 9 17.5V15"
    ),
    "compare": Drawing(
        "M4 5v12.5a2 2 0 0 0 2 2h14M7.5 15.5c3-.3 3.5-8.5 11.5-9.5M7.5 16c5 0 6-3.5 11.5-4"
    ),
    "copy": Drawing(
        _box(8.5, 8.5, 11.5, 11.5)
        + "M15.5 8.5V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7.5a2 2 0 0 0 2 2h2.5"
    ),
    "dice": Drawing(
        _box(4, 4, 16, 16, 3), _dots((8.5, 8.5), (15.5, 8.5), (12, 12), (8.5, 15.5), (15.5, 15.5))
    ),
    "download": Drawing("M12 4v11.5M7.5 11.2l4.5 4.5 4.5-4.5" + _TRAY),
    "error": Drawing(_ROUND + "M9 9l6 6M15 9l-6 6"),
    "export": Drawing("M12 15.5V4M7.5 8.3L12 3.8l4.5 4.5" + _TRAY),
    "external": Drawing(
        "M14 4.5h5.5V10M19.5 4.5L11 13M18 13.5v4a2 2 0 0 1-2 2H6.5a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h4"
    ),
    "film": Drawing(
        _box(4, 4, 16, 16) + "M8.5 4v16M15.5 4v16M4 9.3h4.5M4 14.7h4.5M15.5 9.3H20M15.5 14.7H20"
    ),
    "filter": Drawing("M4 5.5h16l-6.2 7.2v5.1l-3.6 2v-7.1z"),
    "folder": Drawing(
        "M3.5 18V6.5A1.5 1.5 0 0 1 5 5h4.6l2.2 2.5H19A1.5 1.5 0 0 1 20.5 9v9"
        "a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 18z"
    ),
    "frame": Drawing(
        _SCREEN + "M4 16.5l4.7-4.7 4.3 4.3 2.5-2.5 4.6 4.2", _dots((15.3, 8.9), radius=0.8)
    ),
    "fullscreen": Drawing("M4.5 9V4.5H9M15 4.5h4.5V9M19.5 15v4.5H15M9 19.5H4.5V15"),
    "grid": Drawing(_box(4, 4, 16, 16) + "M4 9.3h16M4 14.7h16M9.3 4v16M14.7 4v16"),
    "help": Drawing(
        _ROUND + "M9.4 9.6a2.7 2.7 0 1 1 4.1 2.3c-1 .6-1.5 1.1-1.5 2.1", _dots((12, 16.8))
    ),
    "info": Drawing(_ROUND + "M12 11.3v5.2", _dots((12, 7.9))),
    "keyboard": Drawing(
        _box(2.5, 6, 19, 12) + "M8.5 14.6h7", _dots((6.6, 10), (10.2, 10), (13.8, 10), (17.4, 10))
    ),
    "layout": Drawing(_SCREEN + "M9 4.5v15M9 14.5h11.5"),
    "link": Drawing(
        "M10 13.8a3.9 3.9 0 0 0 5.6.2l3-3a3.9 3.9 0 0 0-5.5-5.5l-1.4 1.4"
        "M14 10.2a3.9 3.9 0 0 0-5.6-.2l-3 3a3.9 3.9 0 0 0 5.5 5.5l1.4-1.4"
    ),
    "live": Drawing(
        "M8.2 8.2a5.4 5.4 0 0 0 0 7.6M15.8 8.2a5.4 5.4 0 0 1 0 7.6"
        "M5.2 5.2a9.6 9.6 0 0 0 0 13.6M18.8 5.2a9.6 9.6 0 0 1 0 13.6",
        _dots((12, 12), radius=1.1),
    ),
    "lock": Drawing(_PADLOCK + "M8 11V8a4 4 0 0 1 8 0v3", _dots((12, 15.7))),
    "log": Drawing(_SCREEN + "M7.3 9.2l2.8 2.8-2.8 2.8M12.5 15h4.2"),
    "minus": Drawing("M5 12h14"),
    "moon": Drawing("M20 14.2A8.3 8.3 0 0 1 9.8 4 8.3 8.3 0 1 0 20 14.2z"),
    "more": Drawing(filled=_dots((5.5, 12), (12, 12), (18.5, 12), radius=0.8)),
    "note": Drawing(
        "M4.5 19.5l1-4.3L16 4.7a2 2 0 0 1 2.8 0l.5.5a2 2 0 0 1 0 2.8L8.8 18.5zM13.8 7l3.2 3.2"
    ),
    "pause": Drawing(filled="M7.5 5.5H9.5v13H7.5zM14.5 5.5H16.5v13H14.5z"),
    "person": Drawing(_circle(12, 8, 3.8) + "M4.8 20c.6-4 3.5-6 7.2-6s6.6 2 7.2 6"),
    "play": Drawing(filled="M7.5 5.5v13L18 12z"),
    "plus": Drawing("M12 5v14M5 12h14"),
    "raw": Drawing(
        "M9 4.5H8a2 2 0 0 0-2 2v3.2A2.3 2.3 0 0 1 4 12a2.3 2.3 0 0 1 2 2.3v3.2a2 2 0 0 0 2 2h1"
        "M15 4.5h1a2 2 0 0 1 2 2v3.2a2.3 2.3 0 0 0 2 2.3 2.3 2.3 0 0 0-2 2.3v3.2a2 2 0 0 1-2 2h-1"
    ),
    "refresh": Drawing(
        "M19.4 10.5A7.6 7.6 0 0 0 6 7.2L4.5 8.7M4.5 4.5v4.2h4.2"
        "M4.6 13.5A7.6 7.6 0 0 0 18 16.8l1.5-1.5M19.5 19.5v-4.2h-4.2"
    ),
    "replay": Drawing("M5.6 7.2A8 8 0 1 1 4 12M5 3.5v4.2h4.2", "M10.5 9.3v5.4l4.2-2.7z"),
    "reset": Drawing("M5.6 7.2A8 8 0 1 1 4 12M5 3.5v4.2h4.2"),
    "robot": Drawing(
        _box(5, 8.5, 14, 10.5, 2.5) + "M12 8.5V5.4M2.6 12.3v3M21.4 12.3v3M10 16h4",
        _dots((9.2, 12.6), (14.8, 12.6), (12, 4.2)),
    ),
    "runs": Drawing("M10 6h10M10 12h10M10 18h10", _dots((5, 6), (5, 12), (5, 18), radius=0.6)),
    "search": Drawing(_circle(10.5, 10.5, 6) + "M15 15l5 5"),
    "settings": Drawing(
        "M4 7h8.6M17.4 7H20M4 17h2.6M11.4 17H20" + _circle(15, 7, 2.4) + _circle(9, 17, 2.4)
    ),
    "skip-end": Drawing("M18 5.5v13", "M5.5 6v12L14.5 12z"),
    "skip-start": Drawing("M6 5.5v13", "M18.5 6v12L9.5 12z"),
    "speed": Drawing("M5 18.2a8.8 8.8 0 1 1 14 0M12 13.8l4.2-4.6", _dots((12, 13.8))),
    "star": Drawing("M12 3.8l2.5 5.2 5.7.8-4.1 4 1 5.7L12 16.8l-5.1 2.7 1-5.7-4.1-4 5.7-.8z"),
    "step": Drawing("M5.5 5.5v13", "M9.8 6v12L19 12z"),
    "step-back": Drawing("M18.5 5.5v13", "M14.2 6v12L5 12z"),
    "stop": Drawing(filled="M6.8 6.8h10.4v10.4H6.8z"),
    "sun": Drawing(
        _circle(12, 12, 4) + "M12 2.7v1.8M12 19.5v1.8M2.7 12h1.8M19.5 12h1.8M5.4 5.4l1.3 1.3"
        "M17.3 17.3l1.3 1.3M5.4 18.6l1.3-1.3M17.3 6.7l1.3-1.3"
    ),
    "table": Drawing(_SCREEN + "M3.5 9.5h17M3.5 14.5h17M9.5 9.5v10"),
    "tag": Drawing(
        "M4 5.5A1.5 1.5 0 0 1 5.5 4h6.2a2 2 0 0 1 1.4.6l6.8 6.8a2 2 0 0 1 0 2.8"
        "l-5.7 5.7a2 2 0 0 1-2.8 0l-6.8-6.8a2 2 0 0 1-.6-1.4z",
        _dots((8.3, 8.3), radius=0.7),
    ),
    "takeover": Drawing(
        _circle(9.5, 8, 3.5) + "M3.2 19.5c.5-3.7 2.9-5.6 6.3-5.6 1.3 0 2.4.3 3.3.7"
        "M14 18.2h6.8M17.8 15.2l3 3-3 3"
    ),
    "trash": Drawing(
        "M4.5 6.7h15M9 6.7V4.2h6v2.5M6.5 6.7l.9 11.8A1.6 1.6 0 0 0 9 20h6a1.6 1.6 0 0 0 1.6-1.5"
        "l.9-11.8M10.2 10.7v5.4M13.8 10.7v5.4"
    ),
    "undo": Drawing("M9 5L4.5 9.5 9 14M4.5 9.5H14a5 5 0 0 1 0 10h-3"),
    "unlink": Drawing(
        "M15.4 14.2l3.2-3.2a3.9 3.9 0 0 0-5.5-5.5l-2.2 2.2"
        "M8.6 9.8L5.4 13a3.9 3.9 0 0 0 5.5 5.5l2.2-2.2M4.5 4.5l15 15"
    ),
    "unlock": Drawing(_PADLOCK + "M8 11V8a4 4 0 0 1 7.7-1.5", _dots((12, 15.7))),
    "video": Drawing(_box(3, 6.5, 12.5, 11, 2.2) + "M15.5 11.2L21 8v8l-5.5-3.2"),
    "warning": Drawing("M12 4.2l8.8 15.3H3.2zM12 10v4.4", _dots((12, 16.9), radius=0.4)),
}

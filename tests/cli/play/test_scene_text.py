"""Scenes as terminal text: they fit, and the agent is always visible."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from mosaic.cli.terminal.keys import SessionKeys
from mosaic.cli.terminal.scene_text import (
    ASCII,
    UNICODE,
    Symbols,
    legend_lines,
    scene_lines,
    symbols_for,
)
from mosaic.cli.terminal.screen import PlayStatus, Viewport, help_lines, play_lines
from mosaic.envs.catalog import environment
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import Agent, GridCell, GridScene, Scene, Wall

_MAZE = {
    "grid": [[[2 if column % 7 == 0 else 1, 5, 0] for _ in range(25)] for column in range(25)],
    "agent": [20, 22],
    "dir": 3,
    "carrying": [5, 4, 0],
    "mission": "get the yellow key and then go to the green goal square at the other end",
}
_SCENES: list[tuple[str, Any, Any]] = [
    ("FrozenLake-v1", 9, None),
    ("FrozenLake8x8-v1", 63, None),
    ("CliffWalking-v1", 36, None),
    ("Taxi-v4", 252, None),
    ("Blackjack-v1", [20, 7, 0], {"player": [10, 4, 6], "dealer": [7, 7]}),
    ("MiniGrid-MultiRoom-N6-v0", {}, _MAZE),
]


def _scene(env_id: str, observation: Any, render: Any) -> Scene:
    scene = scene_for(env_id, {}, observation, render, action=2)
    assert scene is not None
    return scene


def _plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def test_frozen_lake_in_a_terminal() -> None:
    """Every cell has its symbol, in a frame; the agent has its direction."""
    scene = _scene("FrozenLake-v1", 9, None)
    assert _plain(scene_lines(scene, 40, 10, UNICODE)).splitlines() == [
        "┌────────────┐",
        "│ S  ·  ·  · │",
        "│ ·  ○  ·  ○ │",
        "│ ·  ►  ·  ○ │",
        "│ ○  ·  ·  ★ │",
        "└────────────┘",
    ]


def test_a_taxi_with_walls_passenger_and_destination() -> None:
    """ASCII symbols for terminals without Unicode."""
    scene = _scene("Taxi-v4", 252, None)
    assert _plain(scene_lines(scene, 40, 10, ASCII)).splitlines() == [
        "+-------------------+",
        "| R*  . | .   .   G |",
        "| .   . | .   .   . |",
        "| .   .   >   .   . |",
        "| . | .   . | .   . |",
        "| Y | .   . |pB   . |",
        "+-------------------+",
    ]


def test_walls_below_cells_are_rendered() -> None:
    """For scenes with markers."""
    scene = GridScene(
        rows=2,
        columns=2,
        cells=((GridCell(), GridCell()), (GridCell(), GridCell())),
        walls=frozenset({Wall(0, 1, "below"), Wall(1, 0, "right")}),
        agent=Agent(0, 0),
    )
    assert _plain(scene_lines(scene, 20, 10, ASCII)).splitlines() == [
        "+-------+",
        "| @   . |",
        "|    ===|",
        "| . | . |",
        "+-------+",
    ]


@pytest.mark.parametrize(("env_id", "observation", "render"), _SCENES)
@given(st.integers(1, 100), st.integers(1, 40), st.sampled_from([ASCII, UNICODE]))
def test_the_screen_fits_any_size(
    env_id: str, observation: Any, render: Any, width: int, height: int, symbols: Symbols
) -> None:
    """No line is wider than the terminal, and every symbol takes one column."""
    scene = _scene(env_id, observation, render)
    viewport = Viewport(width, height, symbols)
    entry = environment(env_id)
    keys = SessionKeys(entry.keys, has_agent=True)
    status = PlayStatus(env_id=env_id, episode=3, steps=12, total_return=-1.5, message="Over. " * 9)
    for lines in (
        play_lines(scene, status, keys.hints, viewport),
        help_lines(entry, keys.hints, viewport),
    ):
        assert len(lines) <= height
        assert all(line.cell_len <= width for line in lines)
        assert all(line.cell_len == len(line.plain) for line in lines)
        if symbols is ASCII:
            assert _plain(lines).isascii()


@pytest.mark.parametrize(
    ("env_id", "observation", "render"), [each for each in _SCENES if each[0] != "Blackjack-v1"]
)
@given(st.integers(3, 100), st.integers(3, 40))
def test_the_agent_is_always_visible(
    env_id: str, observation: Any, render: Any, width: int, height: int
) -> None:
    """If the grid does not fit, the area around the agent is rendered."""
    scene = _scene(env_id, observation, render)
    assert re.search("[►▼◄▲]", _plain(scene_lines(scene, width, height, UNICODE)))


@pytest.mark.parametrize(("env_id", "observation", "render"), _SCENES)
def test_everything_fits_in_80_by_24(env_id: str, observation: Any, render: Any) -> None:
    """The scene, all keys and the result fit 80 by 24."""
    scene = _scene(env_id, observation, render)
    keys = SessionKeys(environment(env_id).keys, has_agent=True)
    status = PlayStatus(env_id=env_id, episode=0, message="The episode is over.")
    printed = _plain(play_lines(scene, status, keys.hints, Viewport(80, 24, UNICODE)))
    assert all(hint.label in printed for hint in keys.hints)
    assert all(line.plain in printed for line in legend_lines(scene, UNICODE))
    assert "The episode is over." in printed
    assert scene.caption[:20] in printed


def test_the_carried_object_is_in_the_legend() -> None:
    """An object that a MiniGrid agent carries is listed."""
    legend = _plain(legend_lines(_scene("MiniGrid-Fetch-5x5-N2-v0", {}, _MAZE), UNICODE))
    assert "carrying yellow key" in legend


def test_ascii_terminals_get_ascii_symbols() -> None:
    """Other encodings get ASCII."""
    assert symbols_for("utf-8") is symbols_for("UTF8") is UNICODE
    assert symbols_for("ascii") is symbols_for("latin-1") is symbols_for("no such") is ASCII
    assert symbols_for(None) is ASCII


@pytest.mark.parametrize("has_agent", [False, True])
@pytest.mark.parametrize("env_id", [each[0] for each in _SCENES])
def test_every_session_has_a_key_for_everything(env_id: str, has_agent: bool) -> None:
    """The environment's keys have precedence; session commands use a free key."""
    entry = environment(env_id)
    keys = SessionKeys(entry.keys, has_agent=has_agent)
    assert all((keys.cap("next"), keys.cap("reset"), keys.cap("quit"), keys.cap("help")))
    for cap in (keys.cap("takeover"), keys.cap("pause"), keys.cap("step"), keys.cap("faster")):
        assert bool(cap) == has_agent
    assert all(keys.command(key) is None for key in entry.keys.keys)

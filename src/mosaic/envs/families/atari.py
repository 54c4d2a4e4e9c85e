"""Atari 2600 games of the Arcade Learning Environment. ale-py includes their ROMs."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import EnvironmentEntry, Family, split_camel_case
from mosaic.envs.families.atari_controls import (
    ALL_ACTIONS,
    actions_of,
    difficulties_of,
    modes_of,
)
from mosaic.envs.families.atari_texts import ENDS, GOALS, REWARDS, SUMMARIES, TITLES
from mosaic.envs.fields import boolean, choice, integer, number
from mosaic.envs.key_map_builders import joystick_keys, rotate_to_vertical

FAMILY = Family(
    id="atari",
    title="Atari",
    summary="Atari 2600 games of the Arcade Learning Environment, from Adventure to Zaxxon.",
    module="ale_py",
)

_CONSOLE_FPS = 60
_FRAME_SKIP = 4
_REPEAT_ACTION_PROBABILITY = 0.25
_MAX_FRAMES = 108_000
_MAX_MODES_LISTED = 64
_DEFAULT_GOAL = "Score as many points as possible."
_DEFAULT_REWARD = "The increase of the game score."
_DEFAULT_END = "When the game is over"
_VERTICAL_PADDLE_GAMES = ("Pong",)
"""Games in which the action RIGHT moves the paddle up."""
_TOY_TEXT_GAMES = ("Blackjack",)
_LEGACY_ID = re.compile(r"(?P<game>[A-Za-z0-9]+?)(?P<every_frame>NoFrameskip)?-v(?P<version>[04])")


@cache
def entry_for_legacy_id(env_id: str) -> EnvironmentEntry | None:
    """Return the entry of an id without `ALE/`, such as `PongNoFrameskip-v4`."""
    match = _LEGACY_ID.fullmatch(env_id)
    if match is None or match["game"] not in SUMMARIES or match["game"] in _TOY_TEXT_GAMES:
        return None
    repeat_probability = 0.0 if match["version"] == "4" else _REPEAT_ACTION_PROBABILITY
    frame_skip = 1 if match["every_frame"] else None
    entry = _entry(env_id, match["game"], frame_skip, repeat_probability)
    return msgspec.structs.replace(entry, title=f"{entry.title} ({env_id})")


def has_prefix(env_id: str) -> bool:
    """Return whether the id has the prefix of this family; the game may be unknown."""
    return env_id.startswith("ALE/")


def entries() -> Iterator[EnvironmentEntry]:
    """Yield every game with its current id."""
    for game in SUMMARIES:
        yield _entry(f"ALE/{game}-v5", game, _FRAME_SKIP, _REPEAT_ACTION_PROBABILITY)


def _entry(
    env_id: str, game: str, frame_skip: int | None, repeat_probability: float
) -> EnvironmentEntry:
    meanings = actions_of(game)
    keys = joystick_keys(meanings)
    if game in _VERTICAL_PADDLE_GAMES:
        keys = rotate_to_vertical(keys)
    return EnvironmentEntry(
        env_id=env_id,
        family="atari",
        title=TITLES.get(game) or split_camel_case(game),
        summary=SUMMARIES[game],
        goal=GOALS.get(game, _DEFAULT_GOAL),
        observation="By default an RGB frame of 210 by 160 pixels; some games are taller.",
        actions=_actions_text(meanings),
        action_meanings=meanings,
        rewards=REWARDS.get(game, _DEFAULT_REWARD),
        ends=f"{ENDS.get(game, _DEFAULT_END)}, or after {_MAX_FRAMES:,} frames (30 minutes).",
        action_kind="discrete",
        fields=_fields(game, frame_skip, repeat_probability),
        keys=keys,
        other_keys=() if meanings == ALL_ACTIONS else (joystick_keys(ALL_ACTIONS),),
        # The speed of the console. A random frame skip is two, three or four.
        render_fps=_CONSOLE_FPS / (frame_skip or 3),
        # Without a no-op the game must wait for an action.
        turn_based=keys.idle is None,
    )


def _actions_text(meanings: tuple[str, ...]) -> str:
    if meanings == ALL_ACTIONS:
        return "All 18 joystick actions: eight directions, each with and without fire."
    inputs = {
        name
        for name in ("UP", "DOWN", "LEFT", "RIGHT", "FIRE")
        if any(name in meaning for meaning in meanings)
    }
    directions = [name.lower() for name in ("UP", "DOWN", "LEFT", "RIGHT") if name in inputs]
    fire = " and fire" if "FIRE" in inputs else ""
    return f"{len(meanings)} joystick actions: {', '.join(directions)}{fire}."


def _fields(game: str, frame_skip: int | None, repeat_probability: float) -> tuple[Parameter, ...]:
    skip_help = "Frames per step."
    if frame_skip is None:
        skip_help += " Default: 2, 3 or 4 at random."
    return (
        _mode_field(modes_of(game)),
        choice(
            "difficulty",
            None,
            difficulties_of(game),
            "Difficulty of the game. Default: the game's own.",
            group="Game",
        ),
        boolean(
            "full_action_space",
            False,
            "Use all 18 actions, including those without effect in this game.",
            group="Game",
        ),
        integer("frameskip", frame_skip, 1, 16, skip_help, unit="frames", group="Timing"),
        number(
            "repeat_action_probability",
            repeat_probability,
            0.0,
            1.0,
            "Sticky actions: probability of repeating the previous action. Use 0 for human play.",
            group="Timing",
        ),
        integer(
            "max_num_frames_per_episode",
            _MAX_FRAMES,
            1,
            None,
            "Maximum number of frames per episode.",
            unit="frames",
            group="Timing",
        ),
        choice(
            "obs_type",
            "rgb",
            ("rgb", "grayscale", "ram"),
            "Observation type: RGB frame, grayscale frame, or the 128 bytes of RAM.",
            group="Observation",
        ),
    )


def _mode_field(modes: tuple[int, ...]) -> Parameter:
    help_ = "Game mode. Default: the game's own."
    if len(modes) > _MAX_MODES_LISTED:
        return integer("mode", None, modes[0], modes[-1], help_, group="Game")
    return choice("mode", None, modes, help_, group="Game")

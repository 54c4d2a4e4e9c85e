"""Atari: the games of the 2600, in the Arcade Learning Environment. ale-py brings their ROMs."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import EnvironmentEntry, Family, split_words
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
    summary="The games of the Atari 2600, from Adventure to Zaxxon.",
    module="ale_py",
)

_CONSOLE_FPS = 60
_FRAME_SKIP = 4
_STICKINESS = 0.25
_MOST_FRAMES = 108_000
_MOST_MODES_LISTED = 64
_GENERAL_GOAL = "Score as many points as possible."
_GENERAL_REWARD = "The points by which the game's own score has grown."
_GENERAL_END = "When the game is over"
_UPRIGHT_PADDLES = ("Pong",)
"""Where turning the paddle to the right moves it up."""
_ALSO_TOY_TEXT = ("Blackjack",)
_OLDER_ID = re.compile(r"(?P<game>[A-Za-z0-9]+?)(?P<every_frame>NoFrameskip)?-v(?P<version>[04])")


@cache
def entry_of_older_id(env_id: str) -> EnvironmentEntry | None:
    """A game by one of the older ids, without `ALE/`, such as `PongNoFrameskip-v4`."""
    older = _OLDER_ID.fullmatch(env_id)
    if older is None or older["game"] not in SUMMARIES or older["game"] in _ALSO_TOY_TEXT:
        return None
    stickiness = 0.0 if older["version"] == "4" else _STICKINESS
    frame_skip = 1 if older["every_frame"] else None
    entry = _entry(env_id, older["game"], frame_skip, stickiness)
    return msgspec.structs.replace(entry, title=f"{entry.title} ({env_id})")


def owns(env_id: str) -> bool:
    """Whether the id is one of this family, also when the game is not known."""
    return env_id.startswith("ALE/")


def entries() -> Iterator[EnvironmentEntry]:
    """Every game, under the id of the current version."""
    for game in SUMMARIES:
        yield _entry(f"ALE/{game}-v5", game, _FRAME_SKIP, _STICKINESS)


def _entry(env_id: str, game: str, frame_skip: int | None, stickiness: float) -> EnvironmentEntry:
    meanings = actions_of(game)
    keys = joystick_keys(meanings)
    if game in _UPRIGHT_PADDLES:
        keys = rotate_to_vertical(keys)
    return EnvironmentEntry(
        env_id=env_id,
        family="atari",
        title=TITLES.get(game) or split_words(game),
        summary=SUMMARIES[game],
        goal=GOALS.get(game, _GENERAL_GOAL),
        observation="The screen in colour, 210 by 160 pixels or a little more, by default.",
        actions=_actions_text(meanings),
        action_meanings=meanings,
        rewards=REWARDS.get(game, _GENERAL_REWARD),
        ends=f"{ENDS.get(game, _GENERAL_END)}, or after {_MOST_FRAMES:,} frames: half an hour.",
        action_kind="discrete",
        fields=_fields(game, frame_skip, stickiness),
        keys=keys,
        other_keys=() if meanings == ALL_ACTIONS else (joystick_keys(ALL_ACTIONS),),
        # The console's own speed. A random skip is two, three or four frames.
        render_fps=_CONSOLE_FPS / (frame_skip or 3),
        # Without an action that does nothing the game must wait for one.
        turn_based=keys.idle is None,
    )


def _actions_text(meanings: tuple[str, ...]) -> str:
    if meanings == ALL_ACTIONS:
        return "The whole joystick: eight directions, each with and without the button."
    words = {
        word
        for word in ("UP", "DOWN", "LEFT", "RIGHT", "FIRE")
        if any(word in meaning for meaning in meanings)
    }
    directions = [word.lower() for word in ("UP", "DOWN", "LEFT", "RIGHT") if word in words]
    button = " and the button" if "FIRE" in words else ""
    return f"{len(meanings)} positions of the joystick: {', '.join(directions)}{button}."


def _fields(game: str, frame_skip: int | None, stickiness: float) -> tuple[Parameter, ...]:
    skip_help = "Frames of the console for each step."
    if frame_skip is None:
        skip_help += " By default two, three or four at random."
    return (
        _mode_field(modes_of(game)),
        choice(
            "difficulty",
            None,
            difficulties_of(game),
            "The position of the console's difficulty switch; by default the game's own.",
            group="Game",
        ),
        boolean(
            "full_action_space",
            False,
            "All 18 positions of the joystick, also those that do nothing in this game.",
            group="Game",
        ),
        integer("frameskip", frame_skip, 1, 16, skip_help, unit="frames", group="Pace"),
        number(
            "repeat_action_probability",
            stickiness,
            0.0,
            1.0,
            "How likely a frame repeats the last action instead of yours. 0 for people.",
            group="Pace",
        ),
        integer(
            "max_num_frames_per_episode",
            _MOST_FRAMES,
            1,
            None,
            "Where an episode is cut off.",
            unit="frames",
            group="Pace",
        ),
        choice(
            "obs_type",
            "rgb",
            ("rgb", "grayscale", "ram"),
            "What is observed: the screen in colour or in grey, or the console's 128 bytes.",
            group="Observation",
        ),
    )


def _mode_field(modes: tuple[int, ...]) -> Parameter:
    help_ = "Which variant of the game; by default the game's own."
    if len(modes) > _MOST_MODES_LISTED:
        return integer("mode", None, modes[0], modes[-1], help_, group="Game")
    return choice("mode", None, modes, help_, group="Game")

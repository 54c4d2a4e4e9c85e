"""Minimal action sets, modes and difficulties of the Atari 2600 games, from ale-py 0.12."""

_JOYSTICK = (
    "NOOP FIRE UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT UPFIRE RIGHTFIRE LEFTFIRE"
    " DOWNFIRE UPRIGHTFIRE UPLEFTFIRE DOWNRIGHTFIRE DOWNLEFTFIRE"
)
ALL_ACTIONS = tuple(_JOYSTICK.split())
"""The full action set; games that are not in `_MINIMAL_ACTIONS` use all of it."""

_MINIMAL_ACTIONS = {
    "NOOP FIRE RIGHT LEFT RIGHTFIRE LEFTFIRE": (
        "AirRaid Carnival DemonAttack Galaxian NameThisGame Pong SirLancelot SpaceInvaders"
    ),
    "NOOP UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT": (
        "Asterix CrazyClimber Koolaid LostLuggage MsPacman"
    ),
    "NOOP FIRE UP RIGHT LEFT DOWN UPFIRE RIGHTFIRE LEFTFIRE DOWNFIRE": (
        "Amidar MrDo TimePilot WizardOfWor"
    ),
    "NOOP FIRE UP RIGHT LEFT DOWN": "BasicMath KingKong Qbert",
    "NOOP FIRE UP DOWN UPFIRE DOWNFIRE": "Bowling Pooyan UpNDown",
    "NOOP UP RIGHT LEFT DOWN": "Frogger Pacman Surround",
    "NOOP FIRE UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT": (
        "Othello TicTacToe3D VideoChess"
    ),
    "NOOP FIRE RIGHTFIRE LEFTFIRE": "Atlantis Atlantis2",
    "NOOP FIRE UP DOWN": "Blackjack Casino",
    "NOOP FIRE RIGHT LEFT": "Breakout Kaboom",
    "NOOP FIRE UP RIGHT LEFT RIGHTFIRE LEFTFIRE": "Assault",
    "NOOP FIRE UP RIGHT LEFT DOWN UPRIGHT UPLEFT UPFIRE RIGHTFIRE LEFTFIRE DOWNFIRE UPRIGHTFIRE"
    " UPLEFTFIRE": "Asteroids",
    "FIRE RIGHT LEFT": "Backgammon",
    "NOOP FIRE UP RIGHT LEFT UPRIGHT UPLEFT RIGHTFIRE LEFTFIRE": "BeamRider",
    "NOOP FIRE RIGHT LEFT DOWN DOWNRIGHT DOWNLEFT RIGHTFIRE LEFTFIRE": "Enduro",
    "NOOP UP DOWN": "Freeway",
    "NOOP FIRE UP RIGHT LEFT UPFIRE RIGHTFIRE LEFTFIRE": "Gopher",
    "NOOP UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT RIGHTFIRE LEFTFIRE DOWNFIRE"
    " UPRIGHTFIRE UPLEFTFIRE DOWNRIGHTFIRE DOWNLEFTFIRE": "JourneyEscape",
    "NOOP FIRE UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT UPFIRE RIGHTFIRE LEFTFIRE"
    " DOWNFIRE": "KeystoneKapers",
    "NOOP UP RIGHT LEFT DOWN DOWNRIGHT DOWNLEFT RIGHTFIRE LEFTFIRE DOWNFIRE UPRIGHTFIRE"
    " UPLEFTFIRE DOWNRIGHTFIRE DOWNLEFTFIRE": "KungFuMaster",
    "NOOP FIRE RIGHT LEFT DOWN RIGHTFIRE LEFTFIRE DOWNFIRE": "Phoenix",
    "NOOP RIGHT LEFT": "Skiing",
    "NOOP FIRE RIGHT LEFT DOWN": "Tetris",
    "NOOP FIRE UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT RIGHTFIRE LEFTFIRE": "Turmoil",
    "NOOP UP RIGHT LEFT DOWN UPFIRE RIGHTFIRE LEFTFIRE": "Tutankham",
    "FIRE UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT": "VideoCheckers",
    "NOOP FIRE UP RIGHT LEFT DOWN UPFIRE RIGHTFIRE LEFTFIRE": "VideoPinball",
}

_MODES: dict[str, tuple[int, ...]] = {
    "Adventure": (0, 1, 2),
    "AirRaid": tuple(range(1, 9)),
    "Alien": (0, 1, 2, 3),
    "Asteroids": (*range(32), 128),
    "Atlantis": (0, 1, 2, 3),
    "BankHeist": tuple(range(0, 29, 4)),
    "BasicMath": (5, 6, 7, 8),
    "BattleZone": (1, 2, 3),
    "Berzerk": (*range(1, 10), 16, 17, 18),
    "Bowling": (0, 2, 4),
    "Breakout": tuple(range(0, 45, 4)),
    "Casino": (0, 2, 3),
    "Centipede": (22, 86),
    "ChopperCommand": (0, 2),
    "CrazyClimber": (0, 1, 2, 3),
    "Crossbow": (0, 2, 4, 6),
    "Defender": (*range(1, 10), 16),
    "DemonAttack": (1, 3, 5, 7),
    "DoubleDunk": tuple(range(16)),
    "Et": (0, 1, 2),
    "FlagCapture": (8, 9, 10),
    "Freeway": tuple(range(8)),
    "Frogger": (0, 1, 2),
    "Frostbite": (0, 2),
    "Galaxian": tuple(range(1, 10)),
    "Gopher": (0, 2),
    "Gravitar": (0, 1, 2, 3, 4),
    "Hangman": (0, 1, 2, 3),
    "HauntedHouse": tuple(range(9)),
    "Hero": (0, 1, 2, 3, 4),
    "HumanCannonball": tuple(range(8)),
    "IceHockey": (0, 2),
    "Jamesbond": (0, 1),
    "Kangaroo": (0, 1),
    "KingKong": (0, 1, 2, 3),
    "Klax": (0, 1, 2),
    "LostLuggage": (0, 1),
    "MarioBros": (0, 2, 4, 6),
    "MrDo": (0, 1, 2, 3),
    "MsPacman": (0, 1, 2, 3),
    "NameThisGame": (8, 24, 40),
    "Othello": (0, 1, 2),
    "Pacman": tuple(range(8)),
    "Pong": (0, 1),
    "Pooyan": (10, 30, 50, 70),
    "PrivateEye": (0, 1, 2, 3, 4),
    "SpaceInvaders": tuple(range(16)),
    "SpaceWar": tuple(range(6, 18)),
    "StarGunner": (0, 1, 2, 3),
    "Surround": (0, 2),
    "Tennis": (0, 2),
    "TicTacToe3D": tuple(range(9)),
    "Turmoil": tuple(range(9)),
    "Tutankham": (0, 4, 8, 12),
    "VideoCheckers": (*range(1, 10), *range(11, 20)),
    "VideoChess": (0, 1, 2, 3, 4),
    "VideoCube": tuple(block + kind for block in range(0, 5001, 100) for kind in range(3)),
    "VideoPinball": (0, 2),
    "WordZapper": tuple(range(24)),
    "YarsRevenge": (0, 32, 64, 96),
    "Zaxxon": (0, 8, 16, 24),
}

_DIFFICULTIES: dict[tuple[int, ...], str] = {
    (0, 1, 2, 3): (
        "Adventure Alien BankHeist Blackjack Boxing Casino Et FishingDerby IceHockey Pong"
        " PrivateEye Superman Surround Tennis UpNDown Venture WordZapper"
    ),
    (0, 1): (
        "BeamRider Bowling Breakout ChopperCommand CrazyClimber Crossbow Defender DemonAttack"
        " Freeway Frogger Galaxian Gopher Hangman HauntedHouse HumanCannonball JourneyEscape"
        " LostLuggage MiniatureGolf NameThisGame Pacman Qbert Riverraid Seaquest SpaceInvaders"
        " Trondead VideoCube VideoPinball WizardOfWor YarsRevenge"
    ),
    (0, 2): "Entombed Othello TicTacToe3D",
    (0, 3): "Amidar Asteroids",
    (0, 1, 2): "TimePilot",
    (0, 2, 3): "BasicMath",
    (3,): "Backgammon",
}

_ACTIONS_BY_GAME = {
    game: tuple(actions.split())
    for actions, games in _MINIMAL_ACTIONS.items()
    for game in games.split()
}
_DIFFICULTIES_BY_GAME = {
    game: levels for levels, games in _DIFFICULTIES.items() for game in games.split()
}


def actions_of(game: str) -> tuple[str, ...]:
    """Return the meanings of the game's minimal action set."""
    return _ACTIONS_BY_GAME.get(game, ALL_ACTIONS)


def modes_of(game: str) -> tuple[int, ...]:
    """Return the modes of the game."""
    return _MODES.get(game, (0,))


def difficulties_of(game: str) -> tuple[int, ...]:
    """Return the difficulties of the game."""
    return _DIFFICULTIES_BY_GAME.get(game, (0,))

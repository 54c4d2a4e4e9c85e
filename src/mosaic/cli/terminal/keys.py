"""Keys of a terminal session: decoded from bytes, and what each does.

Keys have the names of key maps: `left`, `space`, `enter`, `a`, `7`, `?`. Others are ignored.
"""

import re
from typing import Literal, NamedTuple

from mosaic.envs.key_maps import KeyHint, KeyMap, key_cap

_CONTROL = {" ": "space", "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace"}
_OTHER_NAMES = {",": "comma"}
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])")
_PARTIAL_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")
_ESCAPE = "\x1b"
SessionCommand = Literal[
    "next", "reset", "takeover", "pause", "step", "faster", "slower", "help", "quit"
]
_CAPS = {"escape": "Esc", "backspace": "Backspace"}


class KeyDecoder:
    """Decodes bytes to keys; an escape sequence may arrive in two parts."""

    def __init__(self) -> None:
        self._pending = b""

    @property
    def is_waiting(self) -> bool:
        """Whether the last bytes may be the beginning of a key."""
        return bool(self._pending)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys in `data`."""
        text = (self._pending + data).decode("utf-8", errors="ignore")
        self._pending = b""
        keys = []
        while text:
            match = _SEQUENCE.match(text)
            if match is not None:
                arrow = _ARROWS.get(text[match.end() - 1])
                keys += [arrow] if arrow else []
                text = text[match.end() :]
                continue
            if _PARTIAL_SEQUENCE.fullmatch(text):
                self._pending = text.encode()
                break
            key = _key_name(text[0])
            keys += [key] if key else []
            text = text[1:]
        return keys

    def flush(self) -> list[str]:
        """Return the pending key if nothing follows it: Escape, pressed alone."""
        is_escape = self._pending == _ESCAPE.encode()
        self._pending = b""
        return ["escape"] if is_escape else []


def _key_name(character: str) -> str:
    if character in _CONTROL:
        return _CONTROL[character]
    if not character.isprintable():
        return ""
    return _OTHER_NAMES.get(character, character.lower())


class _SessionKey(NamedTuple):
    command: SessionCommand
    keys: tuple[str, ...]
    """Alternatives that the environment does not use all work; the first of them is displayed."""
    label: str
    needs_agent: bool = False


# Most important first: a small screen does not display the last ones.
_KEYS = (
    _SessionKey("help", ("?",), "help"),
    _SessionKey("quit", ("q", "escape"), "quit"),
    _SessionKey("next", ("n", "enter"), "next episode"),
    _SessionKey("reset", ("r", "backspace"), "restart episode"),
    _SessionKey("takeover", ("t", "space"), "take over, release", needs_agent=True),
    _SessionKey("pause", ("p", "o"), "pause, resume", needs_agent=True),
    _SessionKey("step", (".",), "one step while paused", needs_agent=True),
    _SessionKey("faster", ("+", "="), "faster", needs_agent=True),
    _SessionKey("slower", ("-", "_"), "slower", needs_agent=True),
)


class SessionKeys:
    """The function of each key in one session; the environment's keys take precedence."""

    def __init__(self, environment: KeyMap, *, has_agent: bool) -> None:
        self._environment = environment
        used = environment.keys
        self._commands: dict[str, SessionCommand] = {}
        self._caps: dict[SessionCommand, str] = {}
        hints = []
        for session_key in _KEYS:
            free = [key for key in session_key.keys if key not in used]
            if not free or (session_key.needs_agent and not has_agent):
                continue
            self._commands |= dict.fromkeys(free, session_key.command)
            self._caps[session_key.command] = _CAPS.get(free[0]) or key_cap(free[0])
            hints.append(KeyHint((self._caps[session_key.command],), session_key.label))
        self.hints: tuple[KeyHint, ...] = (*environment.hints(), *hints)

    def command(self, key: str) -> SessionCommand | None:
        """Return the session command of a key."""
        return self._commands.get(key)

    def cap(self, command: SessionCommand) -> str:
        """Return the label of the command's key."""
        return self._caps.get(command, "")

    def is_action(self, key: str) -> bool:
        """Return whether the environment uses the key."""
        return key in self._environment.keys

"""From the bytes that a terminal sends to names of keys, as key maps spell them.

`left`, `space`, `enter`, `a`, `7`, `?`; whatever has no name is dropped.
"""

import re

_CONTROL = {" ": "space", "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace"}
_OTHER_NAMES = {",": "comma"}
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])")
_BEGUN_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")
_ESCAPE = "\x1b"


class KeyDecoder:
    """Feed it what was read; a sequence that comes in two parts is one key all the same."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def is_waiting(self) -> bool:
        """Whether the last byte may be the beginning of a key."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[str]:
        """The keys in `data`, in order."""
        whole = self._rest + data
        text = whole.decode("utf-8", errors="ignore")
        self._rest = b""
        keys = []
        while text:
            match = _SEQUENCE.match(text)
            if match is not None:
                arrow = _ARROWS.get(text[match.end() - 1])
                keys += [arrow] if arrow else []
                text = text[match.end() :]
                continue
            if _BEGUN_SEQUENCE.fullmatch(text):
                self._rest = text.encode()
                break
            key = _name(text[0])
            keys += [key] if key else []
            text = text[1:]
        return keys

    def give_up(self) -> list[str]:
        """What a beginning is when nothing follows it: the Escape key, pressed alone."""
        alone = self._rest == _ESCAPE.encode()
        self._rest = b""
        return ["escape"] if alone else []


def _name(letter: str) -> str:
    if letter in _CONTROL:
        return _CONTROL[letter]
    if not letter.isprintable():
        return ""
    return _OTHER_NAMES.get(letter, letter.lower())

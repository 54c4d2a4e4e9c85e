"""Titles made from ids, for environments that have none of their own."""

import re

_VERSION = re.compile(r"-v\d+\Z")
_WORD = re.compile(
    r"[A-Z]\d+"  # S5
    r"|\d+[A-Za-z]*"  # 2Dlhb
    r"|[A-Z]+(?![a-z])"  # WFC
    r"|[A-Z]?[a-z]+"
)


def title_of(env_id: str) -> str:
    """`module:space/SomeGame-v2` is `Some Game`."""
    name = _VERSION.sub("", env_id.rpartition(":")[2].rpartition("/")[2])
    return spaced(name) or env_id


def spaced(name: str) -> str:
    """`SomeGame` as words."""
    return " ".join(word[0].upper() + word[1:] for word in _WORD.findall(name))

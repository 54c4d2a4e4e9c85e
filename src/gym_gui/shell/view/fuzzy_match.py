"""Fuzzy matching: which of many words somebody means who types a few letters of them."""

from dataclasses import dataclass

_WORD_START = 8
_IN_A_ROW = 5
_FIRST_LETTER = 6
_GAP = 0.3


@dataclass(frozen=True, slots=True)
class Match:
    """More is better. `places` are the letters that were meant."""

    score: float
    places: tuple[int, ...]


def match(query: str, text: str) -> Match | None:
    """All letters of `query` must come in `text`, in order; spaces are of no meaning."""
    wanted = query.lower().replace(" ", "")
    if not wanted:
        return Match(0.0, ())
    inside = text.lower()
    found: Match | None = None
    start = inside.find(wanted[0])
    while start >= 0:
        here = _from(wanted, inside, start)
        if here is None:
            break
        if found is None or here.score > found.score:
            found = here
        start = inside.find(wanted[0], start + 1)
    return found


def has_words(query: str, text: str) -> bool:
    """Each word of `query` begins a word of `text`: stricter, for whole sentences."""
    words = text.lower().split()
    return all(any(word.startswith(part) for word in words) for part in query.lower().split())


def _from(wanted: str, inside: str, start: int) -> Match | None:
    """Greedy: a letter is taken where the next word begins with it, else where it comes next."""
    places = [start]
    score = _worth(inside, start, None)
    for letter in wanted[1:]:
        before = places[-1]
        place = _next(letter, inside, before)
        if place < 0:
            return None
        score += _worth(inside, place, before)
        places.append(place)
    return Match(score - 0.01 * len(inside), tuple(places))


def _next(letter: str, inside: str, before: int) -> int:
    following = inside.find(letter, before + 1)
    if following in (-1, before + 1):
        return following
    place = following
    while place >= 0:
        if _begins_word(inside, place):
            return place
        place = inside.find(letter, place + 1)
    return following


def _worth(inside: str, place: int, before: int | None) -> float:
    score = 1.0
    if _begins_word(inside, place):
        score += _WORD_START
    if place == 0:
        score += _FIRST_LETTER
    if before is not None:
        gap = place - before - 1
        score += _IN_A_ROW if gap == 0 else -_GAP * gap
    return score


def _begins_word(inside: str, place: int) -> bool:
    return place == 0 or not inside[place - 1].isalnum()

"""Episodes of two runs with the same start: the same seed or the same initial state. Blocks.

Called on threads by `CompareModel`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import EpisodeOrigin
from mosaic.contract.prebuild import prebuild_decoders

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_MAX_LINES = 50_000
"""Per event type and run."""
_MAX_PAIRS = 200
_PER_PAGE = 1_000


class _StartLine(msgspec.Struct):
    """The fields read from `episode_start` and `episode` lines."""

    episode_id: str
    episode: int | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    total_return: float | None = msgspec.field(default=None, name="return")


@dataclass(frozen=True, slots=True)
class Origin:
    """The start of an episode: its seed, or the initial state of its environment."""

    seed: int | None = None
    state: str = ""

    @property
    def text(self) -> str:
        return "same start" if self.seed is None else f"seed {self.seed}"


@dataclass(frozen=True, slots=True)
class EpisodePair:
    """Two episodes with the same start, and their returns."""

    left: int
    right: int
    origin: Origin
    left_return: float | None = None
    right_return: float | None = None


def find_pairs(client: "TrainerClient", left: str, right: str) -> list[EpisodePair]:
    """Pairs with the same start, newest first. Raises `UserError`."""
    ours, theirs = _starts(client, left), _starts(client, right)
    pairs = [
        EpisodePair(one[0], theirs[origin][0], origin, one[1], theirs[origin][1])
        for origin, one in ours.items()
        if origin in theirs and (left != right or one[0] != theirs[origin][0])
    ]
    pairs.sort(key=lambda pair: (pair.left, pair.right), reverse=True)
    return pairs[:_MAX_PAIRS]


def best_episode(client: "TrainerClient", run_id: str) -> int | None:
    """The episode with the highest return; None without finished episodes."""
    page = client.episodes_page(run_id, count=1, order="return", descending=True, ended="over")
    return page.episodes[0].episode if page.episodes else None


def origin_of(details: EpisodeDetails) -> Origin | None:
    """The start of an episode; None if it was not recorded."""
    for line in (details.start_json, details.end_json):
        start = _decoded(line) if line else None
        if start is not None and (origin := _origin(start)) is not None:
            return origin
    return None


def _starts(client: "TrainerClient", run_id: str) -> dict[Origin, tuple[int, float | None]]:
    """By start: the newest finished episode and its return."""
    known: dict[str, Origin] = {}
    for line in _lines(client, run_id, "episode_start"):
        if (origin := _origin(line)) is not None:
            known[line.episode_id] = origin
    numbers: dict[str, int] | None = None
    starts = {}
    for line in _lines(client, run_id, "episode"):
        origin, number = _origin(line) or known.get(line.episode_id), line.episode
        if origin is not None and number is None:
            numbers = _numbers(client, run_id) if numbers is None else numbers
            number = numbers.get(line.episode_id)
        if origin is not None and number is not None:
            starts[origin] = (number, line.total_return)
    return starts


def _numbers(client: "TrainerClient", run_id: str) -> dict[str, int]:
    """Episode numbers by id, for workers that leave them to the daemon."""
    numbers: dict[str, int] = {}
    for first in range(0, _MAX_LINES, _PER_PAGE):
        page = client.episodes_page(run_id, first=first, count=_PER_PAGE)
        numbers |= {episode.episode_id: episode.episode for episode in page.episodes}
        if len(page.episodes) < _PER_PAGE:
            break
    return numbers


def _lines(client: "TrainerClient", run_id: str, kind: str) -> Iterator[_StartLine]:
    with client.events(run_id, kind=kind) as events:
        for number, event in enumerate(events):
            if number >= _MAX_LINES:
                return
            start = _decoded(event.line)
            if start is not None:
                yield start


def _decoded(line: bytes) -> _StartLine | None:
    try:
        return msgspec.json.decode(line, type=_StartLine)
    except msgspec.MsgspecError:
        return None


def _origin(line: _StartLine) -> Origin | None:
    if line.seed is not None:
        return Origin(seed=line.seed)
    return Origin(state=f"{line.start.kind} {line.start.data}") if line.start else None


prebuild_decoders(_StartLine)

"""Episodes of two runs that began alike: with the same seed, or in the same state. Waits.

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

_MOST_LINES = 50_000
"""Of each kind and run."""
_MOST_PAIRS = 200
_PER_PAGE = 1_000


class _Beginning(msgspec.Struct):
    """What is read of the lines `episode_start` and `episode`: either says how it began."""

    episode_id: str
    episode: int | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    total_return: float | None = msgspec.field(default=None, name="return")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an episode came from: its seed, or the state its environment was in."""

    seed: int | None = None
    state: str = ""

    @property
    def words(self) -> str:
        return "same start" if self.seed is None else f"seed {self.seed}"


@dataclass(frozen=True, slots=True)
class EpisodePair:
    """Two episodes that began alike, and what they came to."""

    left: int
    right: int
    origin: Origin
    left_return: float | None = None
    right_return: float | None = None


def find_pairs(client: "TrainerClient", left: str, right: str) -> list[EpisodePair]:
    """The newest first. Raises `UserError`."""
    ours, theirs = _beginnings(client, left), _beginnings(client, right)
    pairs = [
        EpisodePair(one[0], theirs[origin][0], origin, one[1], theirs[origin][1])
        for origin, one in ours.items()
        if origin in theirs and (left != right or one[0] != theirs[origin][0])
    ]
    pairs.sort(key=lambda pair: (pair.left, pair.right), reverse=True)
    return pairs[:_MOST_PAIRS]


def best_episode(client: "TrainerClient", run_id: str) -> int | None:
    """The number of the one with the highest return; None where none was over."""
    page = client.episodes_page(run_id, count=1, order="return", descending=True, ended="over")
    return page.episodes[0].episode if page.episodes else None


def origin_of(details: EpisodeDetails) -> Origin | None:
    """None where the record does not say it."""
    for line in (details.start_json, details.end_json):
        told = _decoded(line) if line else None
        if told is not None and (origin := _origin(told)) is not None:
            return origin
    return None


def _beginnings(client: "TrainerClient", run_id: str) -> dict[Origin, tuple[int, float | None]]:
    """The episode that began so and was over, and its return; of several the newest."""
    known: dict[str, Origin] = {}
    for told in _lines(client, run_id, "episode_start"):
        if (origin := _origin(told)) is not None:
            known[told.episode_id] = origin
    numbers: dict[str, int] | None = None
    found = {}
    for told in _lines(client, run_id, "episode"):
        origin, number = _origin(told) or known.get(told.episode_id), told.episode
        if origin is not None and number is None:
            numbers = _numbers(client, run_id) if numbers is None else numbers
            number = numbers.get(told.episode_id)
        if origin is not None and number is not None:
            found[origin] = (number, told.total_return)
    return found


def _numbers(client: "TrainerClient", run_id: str) -> dict[str, int]:
    """Which number an episode has, for workers that leave it to the daemon."""
    found: dict[str, int] = {}
    for first in range(0, _MOST_LINES, _PER_PAGE):
        page = client.episodes_page(run_id, first=first, count=_PER_PAGE)
        found |= {each.episode_id: each.episode for each in page.episodes}
        if len(page.episodes) < _PER_PAGE:
            break
    return found


def _lines(client: "TrainerClient", run_id: str, kind: str) -> Iterator[_Beginning]:
    with client.events(run_id, kind=kind) as events:
        for number, event in enumerate(events):
            if number >= _MOST_LINES:
                return
            told = _decoded(event.line)
            if told is not None:
                yield told


def _decoded(line: bytes) -> _Beginning | None:
    try:
        return msgspec.json.decode(line, type=_Beginning)
    except msgspec.MsgspecError:
        return None


def _origin(told: _Beginning) -> Origin | None:
    if told.seed is not None:
        return Origin(seed=told.seed)
    return Origin(state=f"{told.start.kind} {told.start.data}") if told.start else None


prebuild_decoders(_Beginning)

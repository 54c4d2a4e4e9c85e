"""The current episode, built from two independent streams."""

import threading
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from mosaic.cli.terminal.episode_follower import EpisodeFollower
from mosaic.client.errors import DaemonUnreachableError
from mosaic.client.results import EventLine
from mosaic.contract.events import StepRecord


class _NothingYet:
    """A client whose run has no telemetry yet."""

    def steps(self, *_: Any, **__: Any) -> "_NothingYet":
        return self

    events = steps

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def close(self) -> None: ...


def _feed() -> EpisodeFollower:
    client: Any = _NothingYet()
    return EpisodeFollower(client, "a run", lambda: None)


def _begin(feed: EpisodeFollower, episode: int, obs: int) -> None:
    fields = {"type": "episode_start", "episode_id": f"ep{episode}", "episode": episode, "obs": obs}
    feed._handle_line(
        EventLine(seq=episode, type="episode_start", line=msgspec.json.encode(fields))
    )


def _step(feed: EpisodeFollower, episode: int, step: int, *, ends: bool = False) -> None:
    record = StepRecord(
        episode_id=f"ep{episode}",
        step=step,
        action=1,
        reward=0.5,
        terminated=ends,
        truncated=False,
        obs=100 * episode + step,
    )
    feed._handle_step((step, record))


class _ComesBack(_NothingYet):
    """A client whose daemon was unreachable for longer than its streams wait."""

    def __init__(self) -> None:
        self._answers = iter([DaemonUnreachableError("It is away.", remedy="Wait."), None])
        self.is_heard = threading.Event()

    def __iter__(self) -> Iterator[Any]:
        failure = next(self._answers, None)
        if failure is not None:
            raise failure
        self.is_heard.set()
        return iter(())

    events = _NothingYet().steps


def test_follows_after_a_long_daemon_outage() -> None:
    """The follower continues at its position, as the session does."""
    client = _ComesBack()
    feed = EpisodeFollower(cast("Any", client), "a run", lambda: None)
    assert client.is_heard.wait(10)
    feed.close()


def test_the_return_sums_all_steps() -> None:
    """The newest observation is used."""
    feed = _feed()
    _begin(feed, 0, obs=7)
    assert (feed.episode.observation, feed.episode.steps, feed.episode.is_finished) == (7, 0, False)
    for step in range(3):
        _step(feed, 0, step, ends=step == 2)
    assert (feed.episode.observation, feed.episode.steps, feed.episode.total_return) == (2, 3, 1.5)
    assert feed.episode.is_finished
    feed.close()


def test_a_late_step_of_an_earlier_episode_is_ignored() -> None:
    """The next episode has started and stays current."""
    feed = _feed()
    _begin(feed, 0, obs=7)
    _begin(feed, 1, obs=8)
    _step(feed, 0, 0)
    assert (feed.episode.ordinal, feed.episode.observation) == (1, 8)
    feed.close()


def test_an_early_step_starts_its_episode() -> None:
    """The line only adds the ordinal; the observation of the step is newer."""
    feed = _feed()
    _begin(feed, 0, obs=7)
    _step(feed, 1, 0)
    _begin(feed, 1, obs=8)
    assert (feed.episode.ordinal, feed.episode.observation, feed.episode.steps) == (1, 100, 1)
    feed.close()

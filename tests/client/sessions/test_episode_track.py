"""The episode of the moment, whichever stream is behind the other."""

from mosaic.client.sessions.episode_track import EpisodeTrack
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord


def _step(episode_id: str, step: int) -> StepRecord:
    return StepRecord(
        episode_id=episode_id, step=step, action=0, reward=1.0, terminated=False, truncated=False
    )


def test_steps_that_come_after_the_next_episode_has_begun() -> None:
    """The new episode stays, with its seed."""
    track = EpisodeTrack()
    track.take_start(EpisodeStart(episode_id="a", episode=0))
    track.take_step(_step("a", 3))
    track.take_start(EpisodeStart(episode_id="b", episode=1, seed=7))
    track.take_step(_step("a", 4))
    assert track.now is not None
    assert (track.now.episode_id, track.now.seed, track.now.steps) == ("b", 7, 0)


def test_a_beginning_that_comes_after_its_first_steps() -> None:
    """Nothing of what was seen is forgotten."""
    track = EpisodeTrack()
    track.take_step(_step("a", 3))
    track.take_step(_step("b", 1))
    track.take_end(EpisodeEnd(episode_id="a", steps=4, total_return=4.0))
    track.take_start(EpisodeStart(episode_id="b", episode=1, seed=7))
    assert track.now is not None
    assert (track.now.episode_id, track.now.ordinal, track.now.steps) == ("b", 1, 2)
    assert (track.finished, track.now.is_over) == (1, False)


def test_an_episode_that_is_one_line() -> None:
    """It is over when it is first heard of, and a step that comes later does not reopen it."""
    track = EpisodeTrack()
    track.take_end(EpisodeEnd(episode_id="a", steps=2, total_return=1.5, episode=0, seed=3))
    track.take_step(_step("a", 0))
    assert track.now is not None
    assert (track.now.steps, track.now.total_return, track.now.is_over) == (2, 1.5, True)
    assert (track.now.ordinal, track.now.seed) == (0, 3)

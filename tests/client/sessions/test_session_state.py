"""EpisodeTracker: the current episode, in any order of the streams."""

from mosaic.client.sessions.session_state import EpisodeTracker
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord


def _step(episode_id: str, step: int) -> StepRecord:
    return StepRecord(
        episode_id=episode_id, step=step, action=0, reward=1.0, terminated=False, truncated=False
    )


def _return(tracker: EpisodeTracker) -> float | None:
    assert tracker.current is not None
    return tracker.current.total_return


def test_late_steps_do_not_return_to_previous_episode() -> None:
    """The new episode stays current, with its seed."""
    tracker = EpisodeTracker()
    tracker.add(EpisodeStart(episode_id="a", episode=0))
    tracker.add(_step("a", 3))
    tracker.add(EpisodeStart(episode_id="b", episode=1, seed=7))
    tracker.add(_step("a", 4))
    assert tracker.current is not None
    assert (tracker.current.episode_id, tracker.current.seed, tracker.current.steps) == ("b", 7, 0)


def test_start_line_after_first_steps() -> None:
    """Steps that arrived before the start line are kept."""
    tracker = EpisodeTracker()
    tracker.add(_step("a", 3))
    tracker.add(_step("b", 1))
    tracker.add(EpisodeEnd(episode_id="a", steps=4, total_return=4.0))
    tracker.add(EpisodeStart(episode_id="b", episode=1, seed=7))
    assert tracker.current is not None
    assert (tracker.current.episode_id, tracker.current.ordinal, tracker.current.steps) == (
        "b",
        1,
        2,
    )
    assert (tracker.finished, tracker.current.is_finished) == (1, False)


def test_episode_of_a_single_line() -> None:
    """It is finished immediately, and a later step does not reopen it."""
    tracker = EpisodeTracker()
    tracker.add(EpisodeEnd(episode_id="a", steps=2, total_return=1.5, episode=0, seed=3))
    tracker.add(_step("a", 0))
    assert tracker.current is not None
    assert (tracker.current.steps, tracker.current.total_return, tracker.current.is_finished) == (
        2,
        1.5,
        True,
    )
    assert (tracker.current.ordinal, tracker.current.seed) == (0, 3)


def test_return_and_best_return() -> None:
    """The return grows with each step; with skipped steps it is unknown until the end."""
    tracker = EpisodeTracker()
    tracker.add(_step("a", 0))
    tracker.add(_step("a", 1))
    returns = [_return(tracker)]
    tracker.add(_step("a", 5))
    tracker.add(_step("a", 6))
    returns.append(_return(tracker))
    assert returns == [2.0, None]
    tracker.add(EpisodeEnd(episode_id="a", steps=8, total_return=8.0, terminated=True))
    tracker.add(EpisodeEnd(episode_id="b", steps=2, total_return=2.0))
    assert tracker.best_return == 8.0
    assert _return(tracker) == 2.0

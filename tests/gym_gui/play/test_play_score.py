"""The score of the episode, whichever of the two streams is ahead."""

from gym_gui.play.model.play_moment import NewestMoment
from gym_gui.play.model.play_score import PlayScore
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord


def a_step(episode: str, number: int, reward: float = 1.0, *, is_last: bool = False) -> StepRecord:
    return StepRecord(
        episode_id=episode,
        step=number,
        action=0,
        reward=reward,
        terminated=is_last,
        truncated=False,
        obs=number + 1,
    )


def test_the_return_adds_up_and_the_end_counts_once() -> None:
    """The line of the end may come before the last step."""
    score = PlayScore()
    score.take(EpisodeStart(episode_id="a", episode=0, seed=7))
    score.take(a_step("a", 0))
    score.take(EpisodeEnd(episode_id="a", steps=2, total_return=2.0, terminated=True))
    score.take(a_step("a", 1, is_last=True))
    assert (score.now.steps, score.now.total_return, score.now.seed) == (2, 2.0, 7)
    assert score.now.is_over


def test_a_late_step_does_not_lead_back_to_a_past_episode() -> None:
    """The next episode may begin before the last steps of the one before are stored."""
    score, newest = PlayScore(), NewestMoment()
    for line in (a_step("a", 0), EpisodeStart(episode_id="b", episode=1, obs=0), a_step("a", 1)):
        score.take(line)
        newest.take(line)
    assert (score.now.episode_id, score.now.steps) == ("b", 0)
    assert (newest.now.episode_id, newest.now.step, newest.now.observation) == ("b", -1, 0)


def test_what_a_picture_tells_is_not_undone_by_an_older_step() -> None:
    """Pictures come before their steps are stored."""
    newest = NewestMoment()
    line = b'{"type":"step","episode_id":"a","step":5,"action":1,"reward":0,'
    assert newest.take_json(line + b'"terminated":false,"truncated":false,"obs":9}')
    assert not newest.take(a_step("a", 4))
    assert not newest.take_json(b"nonsense")
    assert newest.now.observation == 9

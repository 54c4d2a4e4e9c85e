"""The episode score and newest step, whichever stream is ahead."""

from gym_gui.play.model.step_view import NewestStepView, PlayScore
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


def test_the_return_sums_rewards_and_the_end_is_counted_once() -> None:
    """The episode end may arrive before the last step."""
    score = PlayScore()
    score.apply(EpisodeStart(episode_id="a", episode=0, seed=7))
    score.apply(a_step("a", 0))
    score.apply(EpisodeEnd(episode_id="a", steps=2, total_return=2.0, terminated=True))
    score.apply(a_step("a", 1, is_last=True))
    assert (score.now.steps, score.now.total_return, score.now.seed) == (2, 2.0, 7)
    assert score.now.is_finished


def test_a_late_step_of_a_superseded_episode_is_ignored() -> None:
    """The next episode may start before the last steps of the previous one are stored."""
    score, newest = PlayScore(), NewestStepView()
    for line in (a_step("a", 0), EpisodeStart(episode_id="b", episode=1, obs=0), a_step("a", 1)):
        score.apply(line)
        newest.apply(line)
    assert (score.now.episode_id, score.now.steps) == ("b", 0)
    assert (newest.now.episode_id, newest.now.step, newest.now.observation) == ("b", -1, 0)


def test_an_older_step_does_not_replace_the_step_of_a_frame() -> None:
    """Frames arrive before their steps are stored."""
    newest = NewestStepView()
    line = b'{"type":"step","episode_id":"a","step":5,"action":1,"reward":0,'
    assert newest.apply_json(line + b'"terminated":false,"truncated":false,"obs":9}')
    assert not newest.apply(a_step("a", 4))
    assert not newest.apply_json(b"nonsense")
    assert newest.now.observation == 9

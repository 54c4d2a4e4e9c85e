"""ReplayStatus: texts about the exactness of a replay."""

from gym_gui.replay.feed.replays import ReplayState
from gym_gui.replay.model.replay_status import replay_status
from mosaic.contract.episodes import EpisodeDetails, EpisodeRollup
from mosaic.replay.replay_state import ReplayProblem

ROLLUP = EpisodeRollup(
    episode=0,
    episode_id="ep0",
    revision=1,
    steps=341,
    total_return=1.0,
    is_over=True,
    terminated=True,
    truncated=False,
)
DETAILS = EpisodeDetails(episode=ROLLUP)


def test_an_exact_replay_lists_the_compared_rewards() -> None:
    """The number of rewards and the version."""
    state = ReplayState(is_open=True, steps=341, checked_steps=341, is_checked=True)
    status = replay_status(DETAILS, state, {"gymnasium": "1.4.0"})
    assert (status.headline, status.tone) == ("exact", "good")
    assert status.text == "341 of 341 rewards identical"
    assert "gymnasium 1.4.0" in status.detail


def test_a_difference_names_its_step() -> None:
    """From that step on, frames differ from the recording."""
    state = ReplayState(
        is_open=True, steps=9, is_checked=True, first_difference=4, difference="reward 1, was 0"
    )
    status = replay_status(DETAILS, state, None)
    assert (status.headline, status.tone) == ("differs from step 4", "bad")
    assert status.text == "reward 1, was 0"


def test_a_non_replayable_episode_has_a_reason() -> None:
    """Recorded data is shown instead."""
    status = replay_status(
        EpisodeDetails(episode=ROLLUP, not_replayable="No seed."), ReplayState(), None
    )
    assert (status.headline, status.text, status.can_retry) == (
        "not replayable",
        "No seed.",
        False,
    )


def test_a_failed_simulation_can_be_retried() -> None:
    """Message and remedy are shown."""
    problem = ReplayProblem(message="It crashed.", remedy="Install it.")
    status = replay_status(DETAILS, ReplayState(error=problem), None)
    assert (status.text, status.detail, status.can_retry) == ("It crashed.", "Install it.", True)

"""ReplayVerdict: what is said of a replay's exactness."""

from gym_gui.replay.feed.replays import ReplayState
from gym_gui.replay.model.replay_verdict import verdict_of
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


def test_an_exact_replay_counts_its_proof() -> None:
    """Every reward was compared, and the version is named."""
    state = ReplayState(is_open=True, steps=341, checked_steps=341, is_checked=True)
    verdict = verdict_of(DETAILS, state, {"gymnasium": "1.4.0"})
    assert (verdict.headline, verdict.tone) == ("exact", "good")
    assert verdict.text == "341 of 341 rewards identical"
    assert "gymnasium 1.4.0" in verdict.detail


def test_a_difference_is_named_with_its_step() -> None:
    """From that step on the pictures are not those of the record."""
    state = ReplayState(
        is_open=True, steps=9, is_checked=True, first_difference=4, difference="reward 1, was 0"
    )
    verdict = verdict_of(DETAILS, state, None)
    assert (verdict.headline, verdict.tone) == ("differs from step 4", "bad")
    assert verdict.text == "reward 1, was 0"


def test_what_cannot_be_replayed_says_why() -> None:
    """And that the record is shown instead."""
    verdict = verdict_of(
        EpisodeDetails(episode=ROLLUP, not_replayable="No seed."), ReplayState(), None
    )
    assert (verdict.headline, verdict.text, verdict.can_retry) == (
        "not replayable",
        "No seed.",
        False,
    )


def test_a_failed_simulation_can_be_tried_again() -> None:
    """Its message and its remedy are shown."""
    problem = ReplayProblem(message="It crashed.", remedy="Install it.")
    verdict = verdict_of(DETAILS, ReplayState(error=problem), None)
    assert (verdict.text, verdict.detail, verdict.can_retry) == ("It crashed.", "Install it.", True)

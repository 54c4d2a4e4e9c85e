"""Playback: a playhead that moves by itself, over a clock that is handed in."""

from gym_gui.runtime.models.playback import Playback


def everything(_: int) -> bool:
    return True


def playing(last: int, fps: float = 10.0) -> Playback:
    playback = Playback()
    playback.last, playback.fps = last, fps
    playback.play()
    playback.advance(0.0, everything)
    return playback


def test_moves_at_the_pace_of_the_environment_and_stops_at_the_end() -> None:
    """Ten frames a second, at double speed twenty."""
    playback = playing(last=8)
    assert playback.advance(0.2, everything)
    assert playback.index == 2
    playback.speed = 2.0
    playback.advance(0.4, everything)
    assert playback.index == 6
    playback.advance(0.6, everything)
    assert (playback.index, playback.is_playing) == (8, False)


def test_waits_for_what_is_not_there_yet() -> None:
    """It goes as far as there are pictures, and on from there when they have come."""
    playback = playing(last=100)
    playback.advance(0.2, lambda index: index < 2)
    assert (playback.index, playback.is_waiting) == (1, True)
    playback.advance(0.4, everything)
    assert (playback.index, playback.is_waiting) == (3, False)


def test_a_stall_is_no_leap() -> None:
    """After a long pause between two beats it goes on, instead of being at the end at once."""
    playback = playing(last=1_000)
    playback.advance(60.0, everything)
    assert 0 < playback.index < 10


def test_loops_when_it_should_and_shows_the_last_frame_as_long_as_the_others() -> None:
    """After the last frame comes the first."""
    playback = playing(last=2)
    playback.is_looping = True
    seen = []
    for beat in range(1, 7):
        playback.advance(beat / 10 + 0.01, everything)
        seen.append(playback.index)
    assert seen == [1, 2, 0, 1, 2, 0]
    assert playback.is_playing


def test_plays_from_the_start_when_it_stands_at_the_end() -> None:
    """Pressing play at the end means: again."""
    playback = Playback()
    playback.last = 5
    playback.move_to(99)
    assert playback.index == 5
    playback.play()
    assert playback.index == 0

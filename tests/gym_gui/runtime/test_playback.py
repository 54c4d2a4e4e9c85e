"""Playback: the position of the playhead over time."""

from gym_gui.runtime.models.playback import Playback


def all_available(_: int) -> bool:
    return True


def start_playback(last: int, fps: float = 10.0) -> Playback:
    playback = Playback()
    playback.last, playback.fps = last, fps
    playback.play()
    playback.advance(0.0, all_available)
    return playback


def test_plays_at_the_frame_rate_and_stops_at_the_end() -> None:
    """10 frames per second, 20 at double speed."""
    playback = start_playback(last=8)
    assert playback.advance(0.2, all_available)
    assert playback.index == 2
    playback.speed = 2.0
    playback.advance(0.4, all_available)
    assert playback.index == 6
    playback.advance(0.6, all_available)
    assert (playback.index, playback.is_playing) == (8, False)


def test_waits_for_missing_frames() -> None:
    """Advances to the last available frame, and continues when more are available."""
    playback = start_playback(last=100)
    playback.advance(0.2, lambda index: index < 2)
    assert (playback.index, playback.is_waiting) == (1, True)
    playback.advance(0.4, all_available)
    assert (playback.index, playback.is_waiting) == (3, False)


def test_a_stall_skips_no_frames() -> None:
    """After a long pause between two ticks, playback continues where it was."""
    playback = start_playback(last=1_000)
    playback.advance(60.0, all_available)
    assert 0 < playback.index < 10


def test_a_loop_shows_all_frames_equally_long() -> None:
    """The first frame follows the last one."""
    playback = start_playback(last=2)
    playback.is_looping = True
    indices = []
    for tick in range(1, 7):
        playback.advance(tick / 10 + 0.01, all_available)
        indices.append(playback.index)
    assert indices == [1, 2, 0, 1, 2, 0]
    assert playback.is_playing


def test_play_at_the_end_restarts() -> None:
    """Playback starts from the first frame."""
    playback = Playback()
    playback.last = 5
    playback.move_to(99)
    assert playback.index == 5
    playback.play()
    assert playback.index == 0

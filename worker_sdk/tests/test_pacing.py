"""Steps are taken when they are due, and a stall is not caught up."""

from __future__ import annotations

import unittest

from mosaic_worker.play.pacing import FRAMES_PER_SECOND, FrameLimiter, Ticker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class TickerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.ticker = Ticker(0.02, 1.0, self.clock)

    def taken(self, seconds: float, cost: float = 0.0) -> list[float]:
        """The times at which a loop consumes ticks, if each step takes `cost`."""
        times: list[float] = []
        end = self.clock.now + seconds
        while True:
            self.clock.now += self.ticker.seconds_left()
            if self.clock.now > end + 1e-9:
                return times
            times.append(self.clock.now)
            self.ticker.consume()
            self.clock.now += cost

    def test_work_between_ticks_does_not_make_them_drift(self) -> None:
        """However long a step takes, the hundredth is on time."""
        times = self.taken(2.0, cost=0.013)
        self.assertEqual(len(times), 101)
        for number, time in enumerate(times):
            self.assertAlmostEqual(time, 100.0 + number * 0.02)

    def test_a_stall_is_not_caught_up(self) -> None:
        """After a second without steps one is due, and the next a tick later."""
        self.ticker.consume()
        self.clock.now += 1.0
        self.assertEqual(self.ticker.seconds_left(), 0.0)
        self.ticker.consume()
        self.assertAlmostEqual(self.ticker.seconds_left(), 0.02)

    def test_an_environment_that_is_too_slow_runs_as_fast_as_it_can(self) -> None:
        """It never waits for a tick in addition to its step time."""
        times = self.taken(1.0, cost=0.03)
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        for gap in gaps:
            self.assertAlmostEqual(gap, 0.03)

    def test_speed(self) -> None:
        """Double speed halves the time, and 0 never waits; a new speed applies at once."""
        self.ticker.set_pace(speed=0.01)
        self.ticker.restart()
        self.assertAlmostEqual(self.ticker.seconds_left(), 2.0)
        self.ticker.set_pace(speed=2.0)
        self.assertAlmostEqual(self.ticker.seconds_left(), 0.01)
        self.ticker.set_pace(speed=0.0)
        self.ticker.consume()
        self.assertEqual(self.ticker.seconds_left(), 0.0)


class FrameRateTest(unittest.TestCase):
    def count_rendered(self, frames: int, gap: float, wobble: float = 0.0) -> int:
        """Number of frames that are rendered if `count` arrive `gap` seconds apart."""
        clock = Clock()
        rate = FrameLimiter(clock)
        count = 0
        for number in range(frames):
            clock.now = 100.0 + number * gap + (wobble if number % 2 else 0.0)
            if rate.is_due():
                rate.consume()
                count += 1
        return count

    def test_no_more_than_sixty_a_second(self) -> None:
        """A game at a thousand steps a second is rendered sixty times."""
        self.assertLessEqual(abs(self.count_rendered(1000, 0.001) - FRAMES_PER_SECOND), 1)

    def test_a_game_at_sixty_hertz_is_rendered_completely(self) -> None:
        """Even if its steps are slightly early or late."""
        for wobble in (0.0, 0.003, -0.003):
            self.assertEqual(self.count_rendered(600, 1 / 60, wobble), 600)


if __name__ == "__main__":
    unittest.main()

"""Steps are taken when they are due, and ticks missed during a stall are skipped."""

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

    def step_times(self, seconds: float, cost: float = 0.0) -> list[float]:
        """Return the times at which a loop consumes ticks, if each step takes `cost` seconds."""
        times: list[float] = []
        end = self.clock.now + seconds
        while True:
            self.clock.now += self.ticker.seconds_left()
            if self.clock.now > end + 1e-9:
                return times
            times.append(self.clock.now)
            self.ticker.consume()
            self.clock.now += cost

    def test_ticks_do_not_drift(self) -> None:
        """The hundredth tick is on time although each step takes a while."""
        times = self.step_times(2.0, cost=0.013)
        self.assertEqual(len(times), 101)
        for number, time in enumerate(times):
            self.assertAlmostEqual(time, 100.0 + number * 0.02)

    def test_ticks_missed_during_a_stall_are_skipped(self) -> None:
        """After a second without steps one step is due, and the next one a period later."""
        self.ticker.consume()
        self.clock.now += 1.0
        self.assertEqual(self.ticker.seconds_left(), 0.0)
        self.ticker.consume()
        self.assertAlmostEqual(self.ticker.seconds_left(), 0.02)

    def test_a_slow_environment_is_stepped_without_waiting(self) -> None:
        """It never waits for a tick in addition to its step time."""
        times = self.step_times(1.0, cost=0.03)
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
    def count_rendered(self, frames: int, interval: float, jitter: float = 0.0) -> int:
        """Return the number of frames rendered if `frames` arrive `interval` seconds apart."""
        clock = Clock()
        limiter = FrameLimiter(clock)
        count = 0
        for number in range(frames):
            clock.now = 100.0 + number * interval + (jitter if number % 2 else 0.0)
            if limiter.is_due():
                limiter.consume()
                count += 1
        return count

    def test_at_most_sixty_frames_per_second(self) -> None:
        """A game with a thousand steps per second is rendered sixty times."""
        self.assertLessEqual(abs(self.count_rendered(1000, 0.001) - FRAMES_PER_SECOND), 1)

    def test_a_game_at_sixty_hertz_is_rendered_completely(self) -> None:
        """Even if its steps are slightly early or late."""
        for jitter in (0.0, 0.003, -0.003):
            self.assertEqual(self.count_rendered(600, 1 / 60, jitter), 600)


if __name__ == "__main__":
    unittest.main()

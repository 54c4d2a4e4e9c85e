"""How a run's configuration affects the play loop."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from typing import Any

from mosaic_worker.descriptor import Algorithm, Descriptor
from mosaic_worker.errors import ConfigError
from mosaic_worker.play import PARAMETERS
from mosaic_worker.play.settings import (
    DEFAULT_EVALUATION_EPISODES,
    PlaySettings,
    SeedSchedule,
    read_settings,
)
from mosaic_worker.run_config import resolve

WORKER = Descriptor(
    "tiny", "Tiny", "1.0", (Algorithm("one", "One", parameters=PARAMETERS),),
    modes=("play", "evaluate"),
)  # fmt: skip
PLAIN = Descriptor("plain", "Plain", "1.0", (Algorithm("one", "One"),), modes=("play",))


def settings(**config: Any) -> PlaySettings:
    return read_settings(resolve(config, WORKER))


def seeds(count: int, **config: Any) -> list[int | None]:
    resolved = resolve(config, WORKER)
    schedule = SeedSchedule(resolved.seed, read_settings(resolved))
    return [schedule.next(played, None) for played in range(count)]


class SettingsTest(unittest.TestCase):
    def test_a_worker_without_play_parameters_uses_the_defaults(self) -> None:
        """A worker that only calls `play` need not declare them."""
        plain = read_settings(resolve({}, PLAIN))
        self.assertEqual((plain.initial_speed, plain.auto_reset, plain.episodes), (1.0, True, None))
        self.assertEqual(plain, settings())

    def test_an_evaluation_is_unpaced_and_resets_automatically(self) -> None:
        """It runs at unlimited speed, and ignores `auto_reset`."""
        chosen = settings(mode="evaluate", params={"auto_reset": False})
        self.assertEqual((chosen.initial_speed, chosen.auto_reset), (0.0, True))
        self.assertEqual(settings(mode="evaluate", params={"speed": 2.0}).initial_speed, 2.0)

    def test_a_human_is_evaluated_in_real_time(self) -> None:
        """The speed of an evaluation with the actor `human` is 1."""
        self.assertEqual(settings(mode="evaluate", actor="human").initial_speed, 1.0)

    def test_the_episode_limit_of_a_run(self) -> None:
        """The smaller of two limits; an evaluation always has one."""
        self.assertEqual(settings(episodes=5, max_episodes=3).episodes, 3)
        self.assertIsNone(settings().episodes)
        self.assertEqual(settings(mode="evaluate").episodes, DEFAULT_EVALUATION_EPISODES)
        self.assertEqual(settings(mode="evaluate", seeds=[4, 9]).episodes, 2)
        self.assertIsNone(settings(mode="evaluate", total_timesteps=10).episodes)

    def test_an_idle_action_that_is_not_json_is_rejected(self) -> None:
        """The error names the field."""
        self.assertEqual(settings(params={"idle_action": "[0, 0.5]"}).idle_action, [0, 0.5])
        with self.assertRaises(ConfigError) as caught:
            settings(params={"idle_action": "left"})
        self.assertEqual(caught.exception.field, "params.idle_action")


class SeedsTest(unittest.TestCase):
    def test_only_the_first_episode_uses_the_runs_seed(self) -> None:
        """Later episodes are unseeded."""
        self.assertEqual(seeds(3, seed=7), [7, None, None])

    def test_an_evaluation_seeds_every_episode(self) -> None:
        """From the list, continuing after its last seed, or from the run's seed on."""
        self.assertEqual(seeds(4, mode="evaluate", seeds=[9, 4]), [9, 4, 5, 6])
        self.assertEqual(seeds(3, mode="evaluate", seed=7), [7, 8, 9])


class DescribingTest(unittest.TestCase):
    def test_the_parameters_do_not_import_the_loop(self) -> None:
        """`--describe` imports neither the loop nor gymnasium."""
        code = (
            "import json, sys; from mosaic_worker.play import PARAMETERS;"
            "print(json.dumps([m for m in sys.modules if 'loop' in m or 'gymnasium' in m]))"
        )
        result = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(result.stdout), [])


if __name__ == "__main__":
    unittest.main()

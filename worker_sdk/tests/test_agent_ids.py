"""Lines of several agents in one run have an agent id; those of a single one do not."""

from __future__ import annotations

import importlib.util
import json
import os
import unittest
from typing import Any

from mosaic_worker.emitter import Emitter
from mosaic_worker.recording.recorder import EpisodeRecorder

ENCODERS = [
    "json",
    *(name for name in ("orjson", "msgspec") if importlib.util.find_spec(name) is not None),
]
DETAILS = ("all", "sampled", "columns", "off")


class Countdown:
    """Three steps per episode, for any actions."""

    action_space = observation_space = None
    left = 3

    @property
    def unwrapped(self) -> Countdown:
        return self

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        self.left = 3
        return self.left, {}

    def step(self, _: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        return self.left, 1.0, not self.left, False, {}

    def close(self) -> None: ...


class AgentsCase(unittest.TestCase):
    def setUp(self) -> None:
        self.fd = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.fd)

    def emitter(self, encoder: str = "") -> Emitter:
        emitter = Emitter(fd=self.fd, encoder=encoder)
        self.addCleanup(emitter.writer.close)
        return emitter

    def recorder(self, emitter: Emitter, detail: str, agent_id: str | None) -> EpisodeRecorder:
        recorder = EpisodeRecorder(emitter, detail=detail, agent_id=agent_id)
        self.addCleanup(recorder.close)
        return recorder

    def written_lines(
        self, encoder: str, detail: str, agent_id: str | None
    ) -> list[dict[str, Any]]:
        """Return the lines of a complete episode, an interrupted one and an annotated one."""
        os.ftruncate(self.fd, 0)
        os.lseek(self.fd, 0, os.SEEK_SET)
        recorder = self.recorder(self.emitter(encoder), detail, agent_id)
        env = recorder.attach(Countdown())
        for episode in range(3):
            env.reset(seed=episode)
            for action in range(2 if episode == 1 else 3):
                if episode == 2 and action == 1:
                    recorder.annotate(bdi={"plan": "walk"})
                env.step(action)
                if episode == 1:
                    recorder.flush()
        recorder.close()
        return self.lines()

    def lines(self) -> list[dict[str, Any]]:
        raw = os.pread(self.fd, os.fstat(self.fd).st_size, 0)
        return [json.loads(line) for line in raw.splitlines()]


class EveryLineTest(AgentsCase):
    def test_every_line_of_an_agent_names_it(self) -> None:
        """Starts, steps, columns, ends and annotated steps, with every encoder."""
        seen = set()
        for encoder in ENCODERS:
            for detail in DETAILS:
                with self.subTest(encoder=encoder, detail=detail):
                    lines = self.written_lines(encoder, detail, "red")
                    seen |= {line["type"] for line in lines}
                    self.assertEqual({line.get("agent_id") for line in lines}, {"red"})
        self.assertEqual(seen, {"environment", "episode_start", "step", "steps", "episode"})

    def test_other_fields_are_equal(self) -> None:
        """Apart from the agent id the lines are equal, in the same order."""
        ignored = ("t", "t_end", "agent_id")
        for encoder in ENCODERS:
            for detail in DETAILS:
                with self.subTest(encoder=encoder, detail=detail):
                    without_id, with_id = (
                        [
                            [(name, value) for name, value in line.items() if name not in ignored]
                            for line in self.written_lines(encoder, detail, agent_id)
                        ]
                        for agent_id in (None, "red")
                    )
                    self.assertEqual(without_id, with_id)

    def test_a_single_agent_is_not_named(self) -> None:
        """Its lines have no field `agent_id`."""
        for encoder in ENCODERS:
            for detail in DETAILS:
                with self.subTest(encoder=encoder, detail=detail):
                    lines = self.written_lines(encoder, detail, None)
                    self.assertFalse([line for line in lines if "agent_id" in line])


class SeveralAgentsTest(AgentsCase):
    def test_an_annotation_stays_with_its_agent(self) -> None:
        """Even if another agent takes the next step."""
        emitter = self.emitter()
        red, blue = (self.recorder(emitter, "all", name) for name in ("red", "blue"))
        red_env, blue_env = red.attach(Countdown()), blue.attach(Countdown())
        red_env.reset()
        blue_env.reset()
        red.annotate(bdi={"plan": "walk"})
        blue_env.step(0)
        red_env.step(0)
        emitter.flush()

        steps = {line["agent_id"]: line for line in self.lines() if line["type"] == "step"}
        self.assertEqual(steps["red"]["bdi"], {"plan": "walk"})
        self.assertNotIn("bdi", steps["blue"])
        self.assertNotEqual(steps["red"]["episode_id"], steps["blue"]["episode_id"])

    def test_listeners_get_the_agent_id(self) -> None:
        """In the fields of steps and of episode starts."""
        received: list[dict[str, Any]] = []
        recorder = self.recorder(self.emitter(), "columns", "red")
        recorder.listener = recorder.on_episode = received.append
        env = recorder.attach(Countdown())
        env.reset()
        env.step(0)

        self.assertEqual([fields["agent_id"] for fields in received], ["red", "red"])


if __name__ == "__main__":
    unittest.main()

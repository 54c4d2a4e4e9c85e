"""A learner that learns nothing but counts, and a run that only remembers: for tests of agents."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.agent import run
from spade_bdi_rl_worker.learning.learner import Progress, Score
from spade_bdi_rl_worker.settings import AgentSettings

if TYPE_CHECKING:
    from spade_bdi_rl_worker.telemetry.outlet import BdiChange


class CountingLearner:
    """Succeeds more often the more it has learnt; `error` is raised by the next batch."""

    def __init__(self, total: int, name: str = "learner") -> None:
        self.total = total
        self.name = name
        self.episodes = 0
        self.epsilon = 1.0
        self.saved: list[str] = []
        self.taken: list[Any] = []
        self.batches: list[int] = []
        self.error: Exception | None = None
        self.partner: CountingLearner | None = None
        self.seconds_per_episode = 0.0

    @property
    def progress(self) -> Progress:
        return Progress(
            episodes=self.episodes,
            total_episodes=self.total,
            steps=self.episodes * 8,
            success_rate=self._success_rate,
            epsilon=self.epsilon,
        )

    @property
    def _success_rate(self) -> float:
        return min(1.0, 2 * self.episodes / self.total)

    def learn(self, episodes: int, go_on: Any) -> Progress:
        if self.error is not None:
            raise self.error
        self.batches.append(episodes)
        for _ in range(min(episodes, self.total - self.episodes)):
            if not go_on():
                break
            time.sleep(self.seconds_per_episode)
            self.episodes += 1
        return self.progress

    def evaluate(self, episodes: int, go_on: Any) -> Score:  # noqa: ARG002 - as the learner has it
        time.sleep(episodes * self.seconds_per_episode)
        return Score(episodes, self._success_rate, 1.0, 8.0)

    def explore(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def consolidate(self) -> None:
        self.epsilon = 0.05

    def share(self) -> Any:
        return {"of": self.name, "values": [number * 0.1234567 for number in range(5_000)]}

    def take_over(self, shared: Any) -> None:
        self.taken.append(shared)

    def twin(self, name: str) -> CountingLearner:
        self.partner = CountingLearner(self.total, name)
        return self.partner

    def save(self, why: str) -> None:
        self.saved.append(why)

    def close(self) -> None:
        pass


class Remembering:
    """An outlet."""

    def __init__(self) -> None:
        self.changes: list[BdiChange] = []
        self.said: list[tuple[str, str]] = []

    def bdi(self, change: BdiChange) -> None:
        self.changes.append(change)

    def say(self, level: str, code: str, message: str, **_: Any) -> None:
        self.said.append((code, f"{level}: {message}"))

    def beliefs(self, agent: str = "learner") -> set[str]:
        """What is held at the end, from what was told."""
        held: set[str] = set()
        for change in self.changes:
            if change.agent == agent:
                held = (held - set(change.removed)) | set(change.added)
        return held

    def plans(self, agent: str = "learner") -> list[str]:
        """Those that fired, in order."""
        told = [change.plan for change in self.changes if change.agent == agent and change.plan]
        return [plan for each in told for plan in each.split(", ")]


class Control:
    """What an agent needs of a run: stop and pause."""

    id = "01TEST"

    def __init__(self) -> None:
        self.should_stop = False
        self.is_pause_requested = False
        self.paused = threading.Event()
        self._going = threading.Event()

    def pause(self) -> None:
        self.is_pause_requested = True

    def resume(self) -> None:
        self.is_pause_requested = False
        self._going.set()

    def request_stop(self, _reason: str) -> None:
        self.should_stop = True
        self._going.set()

    def wait_while_paused(self) -> bool:
        if self.is_pause_requested and not self.should_stop:
            self.paused.set()
            self._going.wait()
        return True


def live(learner: CountingLearner, control: Control | None = None, **settings: Any) -> Remembering:
    """Run agents to their end."""
    outlet = Remembering()
    run(learner, AgentSettings(**settings), outlet, control or Control())  # type: ignore[arg-type]
    return outlet

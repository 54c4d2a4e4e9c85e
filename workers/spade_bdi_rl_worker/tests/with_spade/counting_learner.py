"""A learner that only counts, and a sink that stores everything, for tests of agents."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.agent import run_agents
from spade_bdi_rl_worker.learning.learner import EvaluationResult, LearningProgress
from spade_bdi_rl_worker.settings import AgentSettings

if TYPE_CHECKING:
    from spade_bdi_rl_worker.telemetry.sink import BdiUpdate


class CountingLearner:
    """Its success rate grows with its episodes; the next batch raises `error`."""

    def __init__(self, total: int, name: str = "learner") -> None:
        self.total = total
        self.name = name
        self.episodes = 0
        self.epsilon = 1.0
        self.saved: list[str] = []
        self.merged: list[Any] = []
        self.batches: list[int] = []
        self.error: Exception | None = None
        self.partner: CountingLearner | None = None
        self.seconds_per_episode = 0.0

    @property
    def progress(self) -> LearningProgress:
        return LearningProgress(
            episodes=self.episodes,
            total_episodes=self.total,
            steps=self.episodes * 8,
            success_rate=self._success_rate,
            epsilon=self.epsilon,
        )

    @property
    def _success_rate(self) -> float:
        return min(1.0, 2 * self.episodes / self.total)

    def learn(self, episodes: int, should_continue: Any) -> LearningProgress:
        if self.error is not None:
            raise self.error
        self.batches.append(episodes)
        for _ in range(min(episodes, self.total - self.episodes)):
            if not should_continue():
                break
            time.sleep(self.seconds_per_episode)
            self.episodes += 1
        return self.progress

    def evaluate(self, episodes: int, should_continue: Any) -> EvaluationResult:  # noqa: ARG002 - as TableLearner's
        time.sleep(episodes * self.seconds_per_episode)
        return EvaluationResult(episodes, self._success_rate, 1.0, 8.0)

    def explore(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def consolidate(self) -> None:
        self.epsilon = 0.05

    def export_values(self) -> Any:
        return {"of": self.name, "values": [number * 0.1234567 for number in range(5_000)]}

    def merge_values(self, shared: Any) -> None:
        self.merged.append(shared)

    def make_partner(self, name: str) -> CountingLearner:
        self.partner = CountingLearner(self.total, name)
        return self.partner

    def save(self, reason: str) -> None:
        self.saved.append(reason)

    def close(self) -> None:
        pass


class ListSink:
    """A `TelemetrySink` that stores everything."""

    def __init__(self) -> None:
        self.updates: list[BdiUpdate] = []
        self.messages: list[tuple[str, str]] = []

    def report_bdi(self, update: BdiUpdate) -> None:
        self.updates.append(update)

    def log(self, level: str, code: str, message: str, **_: Any) -> None:
        self.messages.append((code, f"{level}: {message}"))

    def beliefs(self, agent: str = "learner") -> set[str]:
        """Return the beliefs at the end, from all updates."""
        beliefs: set[str] = set()
        for update in self.updates:
            if update.agent == agent:
                beliefs = (beliefs - set(update.removed)) | set(update.added)
        return beliefs

    def plans(self, agent: str = "learner") -> list[str]:
        """Return the plans that fired, in order."""
        fired = [update.plan for update in self.updates if update.agent == agent and update.plan]
        return [plan for plans in fired for plan in plans.split(", ")]


class Control:
    """The members of a run that agents use: stop and pause."""

    id = "01TEST"

    def __init__(self) -> None:
        self.should_stop = False
        self.is_pause_requested = False
        self.paused = threading.Event()
        self._resumed = threading.Event()

    def pause(self) -> None:
        self.is_pause_requested = True

    def resume(self) -> None:
        self.is_pause_requested = False
        self._resumed.set()

    def request_stop(self, _reason: str) -> None:
        self.should_stop = True
        self._resumed.set()

    def wait_while_paused(self) -> bool:
        if self.is_pause_requested and not self.should_stop:
            self.paused.set()
            self._resumed.wait()
        return True


def run_team(learner: CountingLearner, control: Control | None = None, **settings: Any) -> ListSink:
    """Run agents until they are done."""
    sink = ListSink()
    run_agents(learner, AgentSettings(**settings), sink, control or Control())  # type: ignore[arg-type]
    return sink

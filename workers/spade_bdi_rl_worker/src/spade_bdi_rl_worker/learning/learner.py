"""Learner: one environment, one table of action values, and all that an agent can do with them.

The agent's actions call it, in batches; it knows nothing of agents. `making.py` makes it.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from spade_bdi_rl_worker.learning.asking_pace import AskingPace
from spade_bdi_rl_worker.learning.exploration import learning_rate
from spade_bdi_rl_worker.learning.sharing import knowledge_of, merge_knowledge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from spade_bdi_rl_worker.learning.exploration import Exploration
    from spade_bdi_rl_worker.learning.goals import IsSuccess
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding
    from spade_bdi_rl_worker.learning.world import World
    from spade_bdi_rl_worker.settings import LearningSettings
    from spade_bdi_rl_worker.telemetry.reporter import Reporter

    GoOn = Callable[[], bool]
    """Asked at least every 10 ms of work. May block (pause); False ends the batch at once."""

    Shared = dict[str, Any]

RECENT = 100
_WAIT_S = 0.01


@dataclass(frozen=True)
class Progress:
    """How far a learner is."""

    episodes: int = 0
    """Ended ones, evaluations not counted."""
    total_episodes: int | None = None
    """As many are wanted; None: `total_steps` alone decides."""
    steps: int = 0
    total_steps: int | None = None
    success_rate: float = 0.0
    """Of the last 100 episodes, as are the next two."""
    mean_return: float = 0.0
    mean_length: float = 0.0
    epsilon: float = 1.0
    td_error: float = 0.0
    """Mean size of the corrections to the table in the last 100 episodes."""
    coverage: float = 0.0
    """Share of the pairs of state and action that were tried."""

    @property
    def is_complete(self) -> bool:
        """Whether the run has as many episodes or steps as it was asked for."""
        return self.done >= 1.0

    @property
    def done(self) -> float:
        """How much of the run is over, from 0 to 1."""
        parts = ((self.episodes, self.total_episodes), (self.steps, self.total_steps))
        return min(1.0, max((made / wanted for made, wanted in parts if wanted), default=0.0))


@dataclass(frozen=True)
class Score:
    """How well the best known actions did, without learning and without exploring."""

    episodes: int
    success_rate: float
    mean_return: float
    mean_length: float


class Ended(NamedTuple):
    """An episode that is over."""

    episode_return: float
    length: int
    is_success: bool
    errors: float
    """The corrections to the table, added up."""


@dataclass
class _Running:
    """The episode under way, when a batch was left in the middle of it."""

    state: int
    is_learning: bool
    episode_return: float = 0.0
    length: int = 0
    errors: float = 0.0


class Learner:
    """Everything about one environment and one table. Use it from one thread at a time."""

    def __init__(
        self,
        world: World,
        encoding: StateEncoding,
        method: Method,
        exploration: Exploration,
        settings: LearningSettings,
        is_success: IsSuccess,
        reporter: Reporter,
        make_twin: Callable[[str], Learner] | None = None,
    ) -> None:
        self.settings = settings
        self.encoding = encoding
        self.method = method
        self._world = world
        self._exploration = exploration
        self._is_success = is_success
        self._reporter = reporter
        self._make_twin = make_twin
        self._pace = AskingPace(settings.steps_per_second)
        self._recent: deque[Ended] = deque(maxlen=RECENT)
        self._running: _Running | None = None
        self._episodes = 0
        self._steps = 0
        self._stride = self._ask_in = 0
        self._settle_schedules()
        reporter.begin(self)

    @property
    def progress(self) -> Progress:
        """From any thread."""
        recent = list(self._recent)  # at once: the learner's own thread may be at work
        count, steps = len(recent) or 1, sum(each.length for each in recent) or 1
        pairs = self._world.live_pairs(self.method.tries)
        return Progress(
            episodes=self._episodes,
            total_episodes=self.settings.total_episodes,
            steps=self._steps,
            total_steps=self.settings.total_steps,
            success_rate=sum(each.is_success for each in recent) / count,
            mean_return=sum(each.episode_return for each in recent) / count,
            mean_length=sum(each.length for each in recent) / count,
            epsilon=self._exploration.epsilon(self._done),
            td_error=sum(each.errors for each in recent) / steps,
            coverage=sum(1 for each in pairs if each) / (len(pairs) or 1),
        )

    def learn(self, episodes: int, go_on: GoOn) -> Progress:
        """So many more episodes, or fewer: until the run has what it was asked for.

        Returns early when `go_on` says no; the next call continues the episode under way.
        """
        wanted = self._episodes + episodes
        if self.settings.total_episodes is not None:
            wanted = min(wanted, self.settings.total_episodes)
        while self._episodes < wanted and self._done < 1.0:
            ended = self._episode(go_on, is_learning=True)
            if ended is None:
                break
            self._episodes += 1
            self._recent.append(ended)
            self._reporter.episode_ended(self, self._episodes, self._steps)
        self._world.tell()
        return self.progress

    def evaluate(self, episodes: int, go_on: GoOn) -> Score:
        """Play greedily without learning. Fewer episodes when `go_on` says no."""
        ended: list[Ended] = []
        while len(ended) < episodes:
            one = self._episode(go_on, is_learning=False)
            if one is None:
                break
            ended.append(one)
        self._world.tell()
        count = len(ended) or 1
        score = Score(
            episodes=len(ended),
            success_rate=sum(each.is_success for each in ended) / count,
            mean_return=sum(each.episode_return for each in ended) / count,
            mean_length=sum(each.length for each in ended) / count,
        )
        if ended:
            self._reporter.evaluated(score, self._steps)
        return score

    def explore(self, epsilon: float) -> None:
        """Explore with at least this share of random actions; 0: as the schedule says."""
        self._exploration.explore(epsilon)

    def consolidate(self) -> None:
        """From now on explore as little as the schedule ever will, until told to explore."""
        self._exploration.consolidate()

    def share(self) -> Shared:
        """What this learner knows, in plain values that JSON can hold, for a teammate."""
        return knowledge_of(self.method, self.encoding)

    def take_over(self, shared: Shared) -> None:
        """Merge what a teammate knows, weighed by who tried an action more often.

        WorkerError when it is of another environment.
        """
        merge_knowledge(self.method, shared, self.encoding)

    def twin(self, name: str) -> Learner:
        """Another learner in an environment of its own, for a teammate of that name."""
        if self._make_twin is None:
            raise ValueError("a twin has no twin")
        return self._make_twin(name)

    def note(self, bdi: Mapping[str, Any]) -> None:
        """Put this onto the next step, where steps are told one by one."""
        self._world.note(bdi)

    def save(self, why: str) -> Path:
        """Write a checkpoint; `why` is for people, such as "on schedule" or "at the end"."""
        return self._reporter.save(self, why)

    def close(self) -> None:
        """Tell what is left to tell, and close the environment."""
        self._reporter.finish(self)
        self._world.close()

    @property
    def _done(self) -> float:
        """How much of the run is over; asked for every episode."""
        settings, done = self.settings, 0.0
        if settings.total_episodes is not None:
            done = self._episodes / settings.total_episodes
        if settings.total_steps is not None:
            done = max(done, self._steps / settings.total_steps)
        return done

    def _settle_schedules(self) -> None:
        settings, done = self.settings, self._done
        self.method.epsilon = self._exploration.epsilon(done)
        self.method.rate = learning_rate(settings.learning_rate, settings.learning_rate_end, done)

    def _begin_episode(self, *, is_learning: bool) -> _Running:
        """A new one, or the one under way if it is of the same kind."""
        running, self._running = self._running, None
        if is_learning:
            self._settle_schedules()
        else:
            self.method.epsilon = 0.0
        if running is None or running.is_learning != is_learning:
            running = _Running(self._world.begin(), is_learning)
            self.method.begin_episode()
        return running

    def _episode(self, go_on: GoOn, *, is_learning: bool) -> Ended | None:
        """One episode to its end; None when it was left before."""
        if self._ask_in <= 0 and not self._may_go_on(go_on):
            return None
        running = self._begin_episode(is_learning=is_learning)
        choose, step, learn = self.method.choose, self._world.step, self.method.learn
        state, total = running.state, running.episode_return
        length, errors = running.length, running.errors
        before = length
        ask_at = length + self._steps_until_asking(is_learning)
        while True:
            action = choose(state)
            following, reward, terminated, truncated = step(action)
            if is_learning:
                errors += abs(learn(state, action, reward, following, terminated))
            state = following
            total += reward
            length += 1
            if terminated or truncated:
                self._count(length - before, is_learning)
                return Ended(total, length, self._is_success(total, terminated), errors)
            if length >= ask_at:
                self._count(length - before, is_learning)
                before = length
                if not self._may_go_on(go_on) or (is_learning and self._done >= 1.0):
                    self._running = _Running(state, is_learning, total, length, errors)
                    return None
                ask_at = length + self._steps_until_asking(is_learning)

    def _count(self, steps: int, is_learning: bool) -> None:
        self._ask_in -= steps
        if is_learning:
            self._steps += steps

    def _steps_until_asking(self, is_learning: bool) -> int:
        """At least one; and not beyond the last step that is wanted."""
        total = self.settings.total_steps
        if is_learning and total is not None:
            return max(1, min(self._ask_in, total - self._steps))
        return max(1, self._ask_in)

    def _may_go_on(self, go_on: GoOn) -> bool:
        wait_s = self._pace.worked(self._stride - self._ask_in)
        self._world.tell()
        self._reporter.tick(self, self._steps)
        may = go_on() and (wait_s <= 0 or _wait(wait_s, go_on))
        self._stride = self._ask_in = self._pace.begin()
        return may


def _wait(seconds: float, go_on: GoOn) -> bool:
    """So that people can watch; asks all the while."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _WAIT_S))
        if not go_on():
            return False
    return True

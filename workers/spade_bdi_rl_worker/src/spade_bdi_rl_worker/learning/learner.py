"""TableLearner: trains and evaluates one action-value table in one environment.

The agent's actions call it in batches of episodes; it does not depend on agents. Created by
`learner_factory`.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from spade_bdi_rl_worker.learning.schedules import learning_rate
from spade_bdi_rl_worker.teams.value_sharing import export_values, merge_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.schedules import EpsilonSchedule
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding
    from spade_bdi_rl_worker.learning.tabular_env import TabularEnv
    from spade_bdi_rl_worker.settings import LearningSettings
    from spade_bdi_rl_worker.telemetry.reporter import Reporter

    ShouldContinue = Callable[[], bool]
    """Called at least every 10 ms of work. May block (pause); False stops the batch at once."""

    IsSuccess = Callable[[float, bool], bool]
    """Decides from the return of an episode, and whether it was terminated."""

    SharedValues = dict[str, Any]

RECENT_EPISODES = 100
_WAIT_INTERVAL_S = 0.01
_TARGET_INTERVAL_S = 0.004  # below the guaranteed 10 ms, because a busy machine is slower
_MAX_STEPS_PER_CHECK = 20_000
_MAX_GROWTH = 4.0


@dataclass(frozen=True)
class LearningProgress:
    """Counts and recent statistics of a learner."""

    episodes: int = 0
    """Finished episodes, without evaluations."""
    total_episodes: int | None = None
    """Requested episodes; None: only `total_steps` limits the run."""
    steps: int = 0
    total_steps: int | None = None
    success_rate: float = 0.0
    """Over the last 100 episodes, like the next two."""
    mean_return: float = 0.0
    mean_length: float = 0.0
    epsilon: float = 1.0
    td_error: float = 0.0
    """Mean absolute TD error over the last 100 episodes."""
    coverage: float = 0.0
    """Fraction of the state-action pairs that were visited."""

    @property
    def is_complete(self) -> bool:
        """Whether all requested episodes or steps are done."""
        return self.fraction >= 1.0

    @property
    def fraction(self) -> float:
        """The fraction of the run that is done, from 0 to 1."""
        counts = ((self.episodes, self.total_episodes), (self.steps, self.total_steps))
        return min(1.0, max((count / total for count, total in counts if total), default=0.0))


@dataclass(frozen=True)
class EvaluationResult:
    """Results of the greedy policy, without learning and without exploration."""

    episodes: int
    success_rate: float
    mean_return: float
    mean_length: float


class TrainedEpisode(NamedTuple):
    """A finished episode of training or evaluation."""

    episode_return: float
    length: int
    is_success: bool
    abs_td_error: float
    """Sum of the absolute TD errors."""


@dataclass
class _OpenEpisode:
    """An unfinished episode, kept when a batch is interrupted."""

    state: int
    is_learning: bool
    episode_return: float = 0.0
    length: int = 0
    abs_td_error: float = 0.0


class TableLearner:
    """Learns one table in one environment. Use it from one thread at a time."""

    def __init__(
        self,
        env: TabularEnv,
        encoding: StateEncoding,
        method: Method,
        exploration: EpsilonSchedule,
        settings: LearningSettings,
        is_success: IsSuccess,
        reporter: Reporter,
        partner_factory: Callable[[str], TableLearner] | None = None,
    ) -> None:
        self.settings = settings
        self.encoding = encoding
        self.method = method
        self._env = env
        self._exploration = exploration
        self._is_success = is_success
        self._reporter = reporter
        self._partner_factory = partner_factory
        self._pacer = StepPacer(settings.steps_per_second)
        self._recent: deque[TrainedEpisode] = deque(maxlen=RECENT_EPISODES)
        self._open_episode: _OpenEpisode | None = None
        self._episodes = 0
        self._steps = 0
        self._step_budget = self._steps_left = 0
        self._apply_schedules()
        reporter.start(self)

    @property
    def progress(self) -> LearningProgress:
        """Thread-safe."""
        recent = list(self._recent)  # an atomic copy: the learner's thread may append
        count, steps = len(recent) or 1, sum(episode.length for episode in recent) or 1
        visits = self._env.learnable_visits(self.method.visits)
        return LearningProgress(
            episodes=self._episodes,
            total_episodes=self.settings.total_episodes,
            steps=self._steps,
            total_steps=self.settings.total_steps,
            success_rate=sum(episode.is_success for episode in recent) / count,
            mean_return=sum(episode.episode_return for episode in recent) / count,
            mean_length=sum(episode.length for episode in recent) / count,
            epsilon=self._exploration.epsilon(self._fraction_done),
            td_error=sum(episode.abs_td_error for episode in recent) / steps,
            coverage=sum(1 for visit_count in visits if visit_count) / (len(visits) or 1),
        )

    def learn(self, episodes: int, should_continue: ShouldContinue) -> LearningProgress:
        """Train for up to this many more episodes, within the limits of the run.

        Returns early if `should_continue` is False; the next call resumes the open episode.
        """
        last_episode = self._episodes + episodes
        if self.settings.total_episodes is not None:
            last_episode = min(last_episode, self.settings.total_episodes)
        while self._episodes < last_episode and self._fraction_done < 1.0:
            result = self._run_episode(should_continue, is_learning=True)
            if result is None:
                break
            self._episodes += 1
            self._recent.append(result)
            self._reporter.on_episode_end(self, self._episodes, self._steps)
        self._env.flush()
        return self.progress

    def evaluate(self, episodes: int, should_continue: ShouldContinue) -> EvaluationResult:
        """Run the greedy policy without learning. Fewer episodes if `should_continue` is False."""
        results: list[TrainedEpisode] = []
        while len(results) < episodes:
            result = self._run_episode(should_continue, is_learning=False)
            if result is None:
                break
            results.append(result)
        self._env.flush()
        count = len(results) or 1
        evaluation = EvaluationResult(
            episodes=len(results),
            success_rate=sum(result.is_success for result in results) / count,
            mean_return=sum(result.episode_return for result in results) / count,
            mean_length=sum(result.length for result in results) / count,
        )
        if results:
            self._reporter.report_evaluation(evaluation, self._steps)
        return evaluation

    def explore(self, epsilon: float) -> None:
        """Use at least this epsilon; 0: use the schedule."""
        self._exploration.explore(epsilon)

    def consolidate(self) -> None:
        """Use the final epsilon of the schedule until `explore` is called."""
        self._exploration.consolidate()

    def export_values(self) -> SharedValues:
        """Return the visited action values for a teammate, as JSON values."""
        return export_values(self.method, self.encoding)

    def merge_values(self, shared: SharedValues) -> None:
        """Merge a teammate's action values, weighted by visit counts.

        Raises `WorkerError` if they belong to another environment.
        """
        merge_values(self.method, shared, self.encoding)

    def make_partner(self, name: str) -> TableLearner:
        """Create a second learner with its own environment, for the agent with this name."""
        if self._partner_factory is None:
            raise ValueError("a partner cannot create partners")
        return self._partner_factory(name)

    def annotate_next_step(self, bdi: Mapping[str, Any]) -> None:
        """Attach BDI fields to the next step, if steps are recorded one by one."""
        self._env.annotate_next_step(bdi)

    def save(self, reason: str) -> Path:
        """Write a checkpoint; `reason` is displayed, such as "on schedule" or "at the end"."""
        return self._reporter.save(self, reason)

    def close(self) -> None:
        """Write the remaining telemetry and close the environment."""
        self._reporter.finish(self)
        self._env.close()

    @property
    def _fraction_done(self) -> float:
        """Like `LearningProgress.fraction`, but cheap: used once per episode."""
        settings, fraction = self.settings, 0.0
        if settings.total_episodes is not None:
            fraction = self._episodes / settings.total_episodes
        if settings.total_steps is not None:
            fraction = max(fraction, self._steps / settings.total_steps)
        return fraction

    def _apply_schedules(self) -> None:
        settings, done = self.settings, self._fraction_done
        self.method.epsilon = self._exploration.epsilon(done)
        self.method.learning_rate = learning_rate(
            settings.learning_rate, settings.learning_rate_end, done
        )

    def _start_episode(self, *, is_learning: bool) -> _OpenEpisode:
        """Start an episode, or resume the open one if it is of the same kind."""
        episode, self._open_episode = self._open_episode, None
        if is_learning:
            self._apply_schedules()
        else:
            self.method.epsilon = 0.0
        if episode is None or episode.is_learning != is_learning:
            episode = _OpenEpisode(self._env.reset(), is_learning)
            self.method.start_episode()
        return episode

    def _run_episode(
        self, should_continue: ShouldContinue, *, is_learning: bool
    ) -> TrainedEpisode | None:
        """Run one episode to its end; None if it was interrupted."""
        if self._steps_left <= 0 and not self._check_continue(should_continue):
            return None
        episode = self._start_episode(is_learning=is_learning)
        select_action, step, update = self.method.select_action, self._env.step, self.method.update
        state, episode_return = episode.state, episode.episode_return
        length, abs_td_error = episode.length, episode.abs_td_error
        counted = length
        check_at = length + self._steps_until_check(is_learning)
        while True:
            action = select_action(state)
            next_state, reward, terminated, truncated = step(action)
            if is_learning:
                abs_td_error += abs(update(state, action, reward, next_state, terminated))
            state = next_state
            episode_return += reward
            length += 1
            if terminated or truncated:
                self._count_steps(length - counted, is_learning)
                is_success = self._is_success(episode_return, terminated)
                return TrainedEpisode(episode_return, length, is_success, abs_td_error)
            if length >= check_at:
                self._count_steps(length - counted, is_learning)
                counted = length
                if not self._check_continue(should_continue) or (
                    is_learning and self._fraction_done >= 1.0
                ):
                    self._open_episode = _OpenEpisode(
                        state, is_learning, episode_return, length, abs_td_error
                    )
                    return None
                check_at = length + self._steps_until_check(is_learning)

    def _count_steps(self, steps: int, is_learning: bool) -> None:
        self._steps_left -= steps
        if is_learning:
            self._steps += steps

    def _steps_until_check(self, is_learning: bool) -> int:
        """At least one, and at most the remaining steps of the run."""
        total = self.settings.total_steps
        if is_learning and total is not None:
            return max(1, min(self._steps_left, total - self._steps))
        return max(1, self._steps_left)

    def _check_continue(self, should_continue: ShouldContinue) -> bool:
        delay_s = self._pacer.stop(self._step_budget - self._steps_left)
        self._env.flush()
        self._reporter.tick(self, self._steps)
        may_continue = should_continue() and (delay_s <= 0 or _wait(delay_s, should_continue))
        self._step_budget = self._steps_left = self._pacer.start()
        return may_continue


class StepPacer:
    """Decides how many steps to run between checks of control, and limits the speed.

    The number adapts to the duration of a step: thousands with a table, one in a slow simulation.
    """

    def __init__(
        self, max_steps_per_s: float = 0.0, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`max_steps_per_s` 0 is unlimited."""
        self._clock = clock
        self._max_steps_per_s = max_steps_per_s
        self._max_budget = _MAX_STEPS_PER_CHECK
        if max_steps_per_s:
            paced = int(max_steps_per_s * _TARGET_INTERVAL_S)
            self._max_budget = max(1, min(_MAX_STEPS_PER_CHECK, paced))
        self._budget = min(8, self._max_budget)
        self._started_at = clock()

    def start(self) -> int:
        """Start the clock; return the number of steps to run."""
        self._started_at = self._clock()
        return self._budget

    def stop(self, steps: int) -> float:
        """Stop the clock after this many steps; return the seconds to wait for the speed limit."""
        elapsed_s = max(self._clock() - self._started_at, 1e-6)
        budget = self._budget * min(_MAX_GROWTH, _TARGET_INTERVAL_S / elapsed_s)
        self._budget = max(1, min(self._max_budget, int(budget)))
        return steps / self._max_steps_per_s - elapsed_s if self._max_steps_per_s else 0.0


def _wait(seconds: float, should_continue: ShouldContinue) -> bool:
    """Wait for the speed limit; return False if work must stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _WAIT_INTERVAL_S))
        if not should_continue():
            return False
    return True

"""A run in words for its page: how it stands, its figures, how it came there, what to do next.

Plain functions of plain values; the page's head and *Overview* show what they say.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from gym_gui.runtime.models import number_text, run_text
from gym_gui.runtime.models.notices import Tone
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord

_NONE = "—"
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the overview."""

    name: str
    value: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run stands, when that needs a person's eye."""

    title: str
    reason: str
    remedy: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class PastState:
    """The run came into a state."""

    when: str
    word: str
    lasted: str
    reason: str


def progress_words(run: RunRecord) -> str:
    """`216,000 of 300,000 steps · 12.4 k/s · 00:07 left`."""
    digest = run.digest
    words = []
    unit = digest.progress_unit or "steps"
    if digest.progress_done is not None and digest.progress_total:
        done, total = int(digest.progress_done), int(digest.progress_total)
        words.append(f"{run_text.whole(done)} of {run_text.whole(total)} {unit}")
    elif digest.steps_done:
        words.append(f"{run_text.whole(digest.steps_done)} steps")
    if (speed := run_text.speed_of(run)) is not None:
        words.append(run_text.rate(speed))
    if (left := run_text.time_left_of(run)) is not None:
        words.append(f"{run_text.duration(left)} left")
    return " · ".join(words)


def about(
    run: RunRecord, descriptor: WorkerDescriptor | None, env_kwargs: Mapping[str, object]
) -> list[Fact]:
    """What it is."""
    label = (descriptor.label if descriptor else "") or run_text.worker_word(run.worker)
    facts = [
        Fact("Environment", run_text.environment_words(run.env_id, env_kwargs)),
        Fact("Worker", label, run.worker),
        Fact("Algorithm", _algorithm(run, descriptor)),
        Fact("Mode", run.mode),
        Fact("Seed", str(run.seed)),
        Fact("Run id", run.run_id),
    ]
    if run.parent_run:
        facts.append(Fact("Goes on from", run_text.short_id(run.parent_run), run.parent_run))
    return facts


def times(run: RunRecord, details: RunDetails | None, now: float) -> list[Fact]:
    """When it was what."""
    facts = [Fact("Submitted", moment(run.created_at, now))]
    if run.state is RunState.QUEUED:
        place = details.queue_position if details else None
        facts.append(Fact("Place in the queue", str(place) if place is not None else _NONE))
        return facts
    facts += [
        Fact("Started", moment(run.started_at, now)),
        Fact("Ended", moment(run.ended_at, now)),
        Fact("Elapsed", run_text.duration(run_text.elapsed_s(run, now)) or _NONE),
    ]
    if run.digest.disk_bytes is not None:
        facts.append(Fact("On the disk", number_text.size(run.digest.disk_bytes)))
    return facts


def figures(run: RunRecord, best: EpisodeRollup | None) -> list[Fact]:
    """The numbers that are looked at first."""
    digest = run.digest
    best_tip = f"Episode {run_text.whole(best.episode)}" if best else "Of all finished episodes"
    best_return = run_text.number(best.total_return) if best else ""
    return [
        Fact(
            "mean return",
            run_text.number(digest.mean_return) or _NONE,
            "Of the last 100 finished episodes",
        ),
        Fact("best episode", best_return or _NONE, best_tip),
        Fact("episodes", run_text.whole(digest.episodes) if digest.episodes else _NONE),
        Fact("steps", run_text.whole(digest.steps_done) if digest.steps_done else _NONE),
    ]


def verdict_of(run: RunRecord) -> Verdict | None:
    """None while nothing is to be said."""
    if run.state is RunState.FAILED:
        reason = run.reason or "The worker did not say why."
        return Verdict("It failed", reason, run.remedy or _after_failure(run), "bad")
    if run.state is RunState.LOST:
        reason = run.reason or "Its processes are gone, and nobody saw how."
        return Verdict("It was lost", reason, run.remedy or _after_failure(run), "bad")
    if run.state is RunState.CANCELLED:
        # Most reasons say that word themselves.
        is_said = run.reason.lower().startswith("stopped ")
        title = f"It was {run_text.one_line(run.reason)}" if is_said else "It was stopped"
        return Verdict(title, "" if is_said else run.reason, run.remedy, "plain")
    if run.state is RunState.PAUSED:
        return Verdict("It is paused", run.reason, "Resume lets it go on.", "warning")
    if run.state is RunState.QUEUED:
        text = run.reason or "It starts as soon as there is room for it."
        return Verdict("It waits for its turn", text, "", "plain")
    if run.state is RunState.PREPARING:
        text = run_text.installation(run) or run.reason or "Its packages are looked for."
        return Verdict("It is being prepared", text, "", "plain")
    return None


def next_step(
    run: RunRecord, config: TrainRunConfig | None, has_checkpoints: bool, can_replay: bool
) -> str:
    """What a person may want to do now, in one sentence; empty when that is obvious."""
    if run.state in (RunState.FAILED, RunState.LOST):
        if has_checkpoints:
            return "Train on from its last checkpoint, or duplicate it and change what was wrong."
        return "Duplicate it and change what was wrong."
    if run.state is RunState.CANCELLED and has_checkpoints:
        return "Train on from its last checkpoint, or look at what it has learned so far."
    if run.state is RunState.SUCCEEDED:
        if has_checkpoints:
            return "Watch what it has learned: play a checkpoint, or compare it with other runs."
        if can_replay:
            return "Replay its episodes, or compare it with other runs."
        if config is not None and config.mode == "train":
            return "Look at its charts; with checkpoints switched on it could be played afterwards."
    return ""


def history_of(details: RunDetails | None, now: float) -> list[PastState]:
    """Oldest first, each with how long it lasted."""
    changes = details.history if details else ()
    states = []
    for at, change in enumerate(changes):
        is_last = at == len(changes) - 1
        end = now if is_last else changes[at + 1].t
        lasted = "" if is_last and change.state.is_final else run_text.duration(end - change.t)
        look = run_text.STATE_LOOKS[change.state]
        states.append(
            PastState(
                moment(change.t, now),
                f"{look.symbol} {look.word}",
                lasted,
                run_text.one_line(change.reason),
            )
        )
    return states


def moment(t: float | None, now: float) -> str:
    """The time of day; with the date unless that is today."""
    if t is None:
        return _NONE
    there, today = time.localtime(t), time.localtime(now)
    clock = time.strftime("%H:%M:%S", there)
    if there[:3] == today[:3] and abs(now - t) < _DAY_S:
        return clock
    return f"{time.strftime('%Y-%m-%d', there)} {clock}"


def _algorithm(run: RunRecord, descriptor: WorkerDescriptor | None) -> str:
    algorithm = descriptor.algorithm(run.algo) if descriptor and run.algo else None
    return (algorithm.label if algorithm else "") or run.algo or _NONE


def _after_failure(run: RunRecord) -> str:
    code = f" (exit code {run.exit_code})" if run.exit_code else ""
    return f"The log has all that it printed{code}."

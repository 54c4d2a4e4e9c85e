"""Summary texts of a run for its page: status, stats, timeline and suggested next step.

Plain functions of plain values; the header and the *Overview* tab show the texts.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal, format_integer, format_rate, one_line
from gym_gui.runtime.models.notices import Tone
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.formatting import format_clock, format_size
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord

_NONE = "—"
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class SummaryField:
    """One line of the overview."""

    name: str
    value: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """The status of a run that needs attention."""

    title: str
    reason: str
    remedy: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class PastState:
    """An entry of the timeline."""

    when: str
    word: str
    lasted: str
    reason: str


def progress_text(run: RunRecord) -> str:
    """`216,000 of 300,000 steps · 12.4 k/s · 00:07 left`."""
    digest = run.digest
    texts = []
    unit = digest.progress_unit or "steps"
    if digest.progress_done is not None and digest.progress_total:
        done, total = int(digest.progress_done), int(digest.progress_total)
        texts.append(f"{format_integer(done)} of {format_integer(total)} {unit}")
    elif digest.steps_done:
        texts.append(f"{format_integer(digest.steps_done)} steps")
    if (speed := run_text.speed_of(run)) is not None:
        texts.append(format_rate(speed))
    if (left := run_text.time_left_of(run)) is not None:
        texts.append(f"{format_clock(left)} left")
    return " · ".join(texts)


def about(
    run: RunRecord, descriptor: WorkerDescriptor | None, env_kwargs: Mapping[str, object]
) -> list[SummaryField]:
    """Environment, worker, algorithm and identity."""
    label = (descriptor.label if descriptor else "") or run_text.worker_label(run.worker)
    fields = [
        SummaryField("Environment", run_text.environment_text(run.env_id, env_kwargs)),
        SummaryField("Worker", label, run.worker),
        SummaryField("Algorithm", _algorithm(run, descriptor)),
        SummaryField("Mode", run.mode),
        SummaryField("Seed", str(run.seed)),
        SummaryField("Run id", run.run_id),
    ]
    if run.parent_run:
        fields.append(
            SummaryField("Resumed from", run_text.short_id(run.parent_run), run.parent_run)
        )
    return fields


def times(run: RunRecord, details: RunDetails | None, now: float) -> list[SummaryField]:
    """Times, queue position and disk usage."""
    fields = [SummaryField("Submitted", time_text(run.created_at, now))]
    if run.state is RunState.QUEUED:
        position = details.queue_position if details else None
        fields.append(
            SummaryField("Queue position", str(position) if position is not None else _NONE)
        )
        return fields
    fields += [
        SummaryField("Started", time_text(run.started_at, now)),
        SummaryField("Ended", time_text(run.ended_at, now)),
        SummaryField("Elapsed", format_clock(run_text.elapsed_s(run, now)) or _NONE),
    ]
    if run.digest.disk_bytes is not None:
        fields.append(SummaryField("Disk usage", format_size(run.digest.disk_bytes)))
    return fields


def stats(run: RunRecord, best: EpisodeRollup | None) -> list[SummaryField]:
    """The main numbers of the run."""
    digest = run.digest
    best_tip = f"Episode {format_integer(best.episode)}" if best else "Of all finished episodes"
    best_return = format_decimal(best.total_return) if best else ""
    return [
        SummaryField(
            "mean return",
            format_decimal(digest.mean_return) or _NONE,
            "Of the last 100 finished episodes",
        ),
        SummaryField("best episode", best_return or _NONE, best_tip),
        SummaryField("episodes", format_integer(digest.episodes) if digest.episodes else _NONE),
        SummaryField("steps", format_integer(digest.steps_done) if digest.steps_done else _NONE),
    ]


def status_message(run: RunRecord) -> StatusMessage | None:
    """None if the status needs no message."""
    if run.state is RunState.FAILED:
        reason = run.reason or "The worker reported no reason."
        return StatusMessage("Run failed", reason, run.remedy or _after_failure(run), "bad")
    if run.state is RunState.LOST:
        reason = run.reason or "Its processes ended without an exit record."
        return StatusMessage("Run lost", reason, run.remedy or _after_failure(run), "bad")
    if run.state is RunState.CANCELLED:
        # Most reasons contain that word.
        is_named = run.reason.lower().startswith("stopped ")
        title = f"Run {one_line(run.reason)}" if is_named else "Run stopped"
        return StatusMessage(title, "" if is_named else run.reason, run.remedy, "plain")
    if run.state is RunState.PAUSED:
        return StatusMessage("Run paused", run.reason, "Use Resume to continue.", "warning")
    if run.state is RunState.QUEUED:
        text = run.reason or "It starts when resources are free."
        return StatusMessage("Run queued", text, "", "plain")
    if run.state is RunState.PREPARING:
        text = run_text.installation_text(run) or run.reason or "Checking its packages."
        return StatusMessage("Preparing run", text, "", "plain")
    return None


def next_step(
    run: RunRecord, config: TrainRunConfig | None, has_checkpoints: bool, can_replay: bool
) -> str:
    """A suggested next step in one sentence; empty if there is none."""
    if run.state in (RunState.FAILED, RunState.LOST):
        if has_checkpoints:
            return (
                "Continue training from its last checkpoint, or duplicate it and fix the settings."
            )
        return "Duplicate it and fix the settings."
    if run.state is RunState.CANCELLED and has_checkpoints:
        return "Continue training from its last checkpoint, or play that checkpoint."
    if run.state is RunState.SUCCEEDED:
        if has_checkpoints:
            return "Play a checkpoint, or compare it with other runs."
        if can_replay:
            return "Replay its episodes, or compare it with other runs."
        if config is not None and config.mode == "train":
            return "See its charts. Enable checkpoints in a new run to play the policy."
    return ""


def history_of(details: RunDetails | None, now: float) -> list[PastState]:
    """Oldest first, each with its duration."""
    changes = details.history if details else ()
    states = []
    for index, change in enumerate(changes):
        is_last = index == len(changes) - 1
        end = now if is_last else changes[index + 1].t
        lasted = "" if is_last and change.state.is_final else format_clock(end - change.t)
        style = run_text.STATE_STYLES[change.state]
        states.append(
            PastState(
                time_text(change.t, now),
                f"{style.symbol} {style.word}",
                lasted,
                one_line(change.reason),
            )
        )
    return states


def time_text(t: float | None, now: float) -> str:
    """The time of day, with the date unless it is today."""
    if t is None:
        return _NONE
    then, today = time.localtime(t), time.localtime(now)
    clock = time.strftime("%H:%M:%S", then)
    if then[:3] == today[:3] and abs(now - t) < _DAY_S:
        return clock
    return f"{time.strftime('%Y-%m-%d', then)} {clock}"


def _algorithm(run: RunRecord, descriptor: WorkerDescriptor | None) -> str:
    algorithm = descriptor.algorithm(run.algo) if descriptor and run.algo else None
    return (algorithm.label if algorithm else "") or run.algo or _NONE


def _after_failure(run: RunRecord) -> str:
    code = f" (exit code {run.exit_code})" if run.exit_code else ""
    return f"See the log for its output{code}."

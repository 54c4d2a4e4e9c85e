"""StatusModel: the daemon, its runs, the machine and the disk, each in a few words.

The status line shows it. Nothing here asks the daemon more than the link does anyway, but for what
the home takes on the disk, which is asked for once a minute at most.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.storage import RetentionStatus

_MEASURE_EVERY_S = 60.0
_LITTLE_ROOM_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Words:
    """One part of the status line; `tip` says more."""

    text: str = ""
    tip: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class ShellStatus:
    """All parts."""

    daemon: Words = Words("Looking for the daemon…")
    can_start_daemon: bool = False
    runs: Words = Words()
    machine: Words = Words()
    actor: Words = Words()
    disk: Words = Words()


class StatusModel(QObject):
    """Made once, by the wiring."""

    changed = Signal()

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        parent: QObject | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.status = ShellStatus()
        self._link = link
        self._tasks = tasks
        self._clock = clock
        self._used: RetentionStatus | None = None
        self._measured_at: float | None = None
        link.changed.connect(self._update)
        self._update()

    def start_daemon(self) -> None:
        """When it is lost, or could not be reached."""
        self._link.start_daemon()

    def echo_actor(self, label: str) -> None:
        """Who acts now: said whenever the active actor changes."""
        words = Words(f"Acting: {label}", "The active actor of the session") if label else Words()
        self._set(replace(self.status, actor=words))

    def _update(self) -> None:
        health = self._link.health if self._link.is_ready else None
        self._set(
            ShellStatus(
                daemon=_daemon_text(self._link.state, self._link.health, self._link.problem),
                can_start_daemon=self._link.state in (LinkState.LOST, LinkState.FAILED),
                runs=_runs_text(health),
                machine=_machine_text(health),
                actor=self.status.actor,
                disk=_disk_text(self._link.health, self._used),
            )
        )
        if health is not None:
            self._measure_now_and_then()

    def _measure_now_and_then(self) -> None:
        now = self._clock()
        if self._measured_at is not None and now - self._measured_at < _MEASURE_EVERY_S:
            return
        self._measured_at = now
        # Failing, it leaves what was known: the link says already that something is wrong.
        self._tasks.run(self, self._link.client.retention, self._on_disk_usage, lambda _: None)

    def _on_disk_usage(self, used: RetentionStatus) -> None:
        self._used = used
        self._set(replace(self.status, disk=_disk_text(self._link.health, used)))

    def _set(self, status: ShellStatus) -> None:
        if status != self.status:
            self.status = status
            self.changed.emit()


def _daemon_text(state: LinkState, health: DaemonHealth | None, problem: UserError | None) -> Words:
    if state is LinkState.READY and health is not None:
        return _ready_text(health)
    if state is LinkState.LOST:
        return Words(
            "Daemon lost: looking for it…",
            "It does not answer. Runs go on without it, and views resume when it is back."
            " Click to start it again.",
            "warning",
        )
    if state is LinkState.FAILED:
        why = f"{problem.message} {problem.remedy}" if problem is not None else ""
        return Words("No daemon: click to start it", why.strip(), "bad")
    if state is LinkState.CLOSED:
        return Words("Daemon left")
    return Words("Starting the daemon…", "Looking for the daemon of this home, or starting one")


def _ready_text(health: DaemonHealth) -> Words:
    tip = f"Version {health.version}, process {health.pid}, home {health.home}"
    is_local = health.address.startswith("unix:")
    text = "Daemon running" if is_local else f"Daemon {health.address}"
    if not health.problems:
        return Words(text, tip, "good")
    count = len(health.problems)
    return Words(
        f"{text}, {count} {'problem' if count == 1 else 'problems'}",
        "\n".join((*health.problems, tip)),
        "warning",
    )


def _runs_text(health: DaemonHealth | None) -> Words:
    if health is None:
        return Words()
    count = health.runs_by_state
    live = sum(count.get(state, 0) for state in LIVE_STATES)
    paused = count.get(RunState.PAUSED, 0)
    queued = count.get(RunState.QUEUED, 0)
    parts = [
        f"{live - paused} running" if live > paused else "",
        f"{paused} paused" if paused else "",
        f"{queued} queued" if queued else "",
    ]
    text = " · ".join(part for part in parts if part) or "no run active"
    told = ", ".join(f"{number} {state}" for state, number in sorted(count.items()) if number)
    return Words(text, f"Runs of this home: {told}" if told else "This home has no runs yet")


def _machine_text(health: DaemonHealth | None) -> Words:
    if health is None or not health.cpus:
        return Words()
    graphics = len(health.gpus)
    if not graphics:
        gpu = "no GPU"
    elif graphics == 1:
        gpu = health.gpus[0]
    else:
        gpu = f"{graphics} GPUs"
    tip = f"{health.cpus_free} of {health.cpus} processors are not taken by a run"
    tip = "\n".join((tip, *health.gpus))
    return Words(f"{health.cpus_free} of {health.cpus} CPUs free · {gpu}", tip)


def _disk_text(health: DaemonHealth | None, used: RetentionStatus | None) -> Words:
    if health is None:
        return Words()
    free = f"{size_words(health.disk_free_bytes)} free"
    is_tight = health.disk_free_bytes < _LITTLE_ROOM_BYTES
    tone: Tone = "warning" if is_tight else "plain"
    if used is None:
        return Words(f"Disk {free}", f"Room on the disk of {health.home}", tone)
    taken = size_words(used.limited_bytes)
    limit = f" of {used.max_gb:g} GB" if used.max_gb is not None else ""
    kinds = sorted(used.used, key=lambda use: -use.size_bytes)
    tip = "\n".join(f"{use.kind}: {size_words(use.size_bytes)}" for use in kinds if use.size_bytes)
    return Words(f"Runs use {taken}{limit} · {free}", tip or "Nothing is stored yet", tone)


size_words = format_size

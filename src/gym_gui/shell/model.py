"""StatusModel: the texts of the status bar: daemon, runs, machine, actor and disk.

All values come from the link, except the disk usage, which is requested once a minute at most.
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

_DISK_USAGE_INTERVAL_S = 60.0
_MIN_FREE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class StatusText:
    """One section of the status bar; `tip` is its tooltip."""

    text: str = ""
    tip: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class ShellStatus:
    """All sections of the status bar."""

    daemon: StatusText = StatusText("Connecting to the daemon…")
    can_start_daemon: bool = False
    runs: StatusText = StatusText()
    machine: StatusText = StatusText()
    actor: StatusText = StatusText()
    disk: StatusText = StatusText()


class StatusModel(QObject):
    """Created by `Models`."""

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
        self._requested_at: float | None = None
        link.changed.connect(self._update)
        self._update()

    def start_daemon(self) -> None:
        """Start the daemon if it is lost or unreachable."""
        self._link.start_daemon()

    def set_actor(self, label: str) -> None:
        """Set the label of the active actor; empty if there is none."""
        tip = "The active actor of the session"
        text = StatusText(f"Actor: {label}", tip) if label else StatusText()
        self._set(replace(self.status, actor=text))

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
            self._refresh_disk_usage()

    def _refresh_disk_usage(self) -> None:
        now = self._clock()
        if self._requested_at is not None and now - self._requested_at < _DISK_USAGE_INTERVAL_S:
            return
        self._requested_at = now
        # On an error, the last value stays; the link already reports the problem.
        self._tasks.run(self, self._link.client.retention, self._on_disk_usage, lambda _: None)

    def _on_disk_usage(self, used: RetentionStatus) -> None:
        self._used = used
        self._set(replace(self.status, disk=_disk_text(self._link.health, used)))

    def _set(self, status: ShellStatus) -> None:
        if status != self.status:
            self.status = status
            self.changed.emit()


def _daemon_text(
    state: LinkState, health: DaemonHealth | None, problem: UserError | None
) -> StatusText:
    if state is LinkState.READY and health is not None:
        return _ready_text(health)
    if state is LinkState.LOST:
        return StatusText(
            "Daemon lost, reconnecting…",
            "The daemon does not answer. Runs continue, and views resume after it is back."
            " Click to start it.",
            "warning",
        )
    if state is LinkState.FAILED:
        reason = f"{problem.message} {problem.remedy}" if problem is not None else ""
        return StatusText("No daemon, click to start", reason.strip(), "bad")
    if state is LinkState.CLOSED:
        return StatusText("Disconnected")
    return StatusText(
        "Starting the daemon…", "Connecting to the daemon of this home, or starting one"
    )


def _ready_text(health: DaemonHealth) -> StatusText:
    tip = f"Version {health.version}, process {health.pid}, home {health.home}"
    is_local = health.address.startswith("unix:")
    text = "Daemon running" if is_local else f"Daemon {health.address}"
    if not health.problems:
        return StatusText(text, tip, "good")
    count = len(health.problems)
    return StatusText(
        f"{text}, {count} {'problem' if count == 1 else 'problems'}",
        "\n".join((*health.problems, tip)),
        "warning",
    )


def _runs_text(health: DaemonHealth | None) -> StatusText:
    if health is None:
        return StatusText()
    count = health.runs_by_state
    live = sum(count.get(state, 0) for state in LIVE_STATES)
    paused = count.get(RunState.PAUSED, 0)
    queued = count.get(RunState.QUEUED, 0)
    parts = [
        f"{live - paused} running" if live > paused else "",
        f"{paused} paused" if paused else "",
        f"{queued} queued" if queued else "",
    ]
    text = " · ".join(part for part in parts if part) or "no active runs"
    states = ", ".join(f"{number} {state}" for state, number in sorted(count.items()) if number)
    return StatusText(text, f"Runs in this home: {states}" if states else "No runs in this home")


def _machine_text(health: DaemonHealth | None) -> StatusText:
    if health is None or not health.cpus:
        return StatusText()
    gpu_count = len(health.gpus)
    if not gpu_count:
        gpu = "no GPU"
    elif gpu_count == 1:
        gpu = health.gpus[0]
    else:
        gpu = f"{gpu_count} GPUs"
    tip = f"{health.cpus_free} of {health.cpus} CPUs are not used by a run"
    tip = "\n".join((tip, *health.gpus))
    return StatusText(f"{health.cpus_free} of {health.cpus} CPUs free · {gpu}", tip)


def _disk_text(health: DaemonHealth | None, used: RetentionStatus | None) -> StatusText:
    if health is None:
        return StatusText()
    free = f"{format_size(health.disk_free_bytes)} free"
    is_low = health.disk_free_bytes < _MIN_FREE_BYTES
    tone: Tone = "warning" if is_low else "plain"
    if used is None:
        return StatusText(f"Disk {free}", f"Free space on the disk of {health.home}", tone)
    used_size = format_size(used.limited_bytes)
    limit = f" of {used.max_gb:g} GB" if used.max_gb is not None else ""
    kinds = sorted(used.used, key=lambda use: -use.size_bytes)
    tip = "\n".join(f"{use.kind}: {format_size(use.size_bytes)}" for use in kinds if use.size_bytes)
    return StatusText(f"Runs use {used_size}{limit} · {free}", tip or "No stored data", tone)

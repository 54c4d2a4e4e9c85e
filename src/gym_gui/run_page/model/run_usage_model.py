"""RunUsageModel: processors and memory of a run over time, and the machine it runs on."""

from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from gym_gui.run_page.feed.run_usage_feed import (
    MachineFacts,
    RunUsageFeed,
    UsageSample,
    fetch_machine,
)
from gym_gui.runtime.models import number_text, run_text
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker

_NONE = "—"
_HUNDRED = 100.0


@dataclass(slots=True)
class Track:
    """One quantity over time: seconds since the first sample, and values."""

    t: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    peak: float | None = None

    def add(self, t: float, value: float) -> None:
        self.t.append(t)
        self.values.append(value)
        self.peak = value if self.peak is None else max(self.peak, value)

    @property
    def newest(self) -> float | None:
        return self.values[-1] if self.values else None


class RunUsageModel(QObject):
    """Owned by `RunPageModel`."""

    changed = Signal()
    """At most once a beat."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, pulse: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.cpu = Track()
        """Percent of one processor; several processes may take more than 100."""
        self.memory = Track()
        """In bytes."""
        self.machine: MachineFacts | None = None
        self._link = link
        self._tasks = tasks
        self._first: UsageSample | None = None
        self._newest: UsageSample | None = None
        self._feed = RunUsageFeed(link, pulse, self)
        link.connected.connect(self.refresh_machine)
        pulse.subscribe(self, self._on_beat)

    def show(self, run_id: str) -> None:
        """From now on of this run; an empty id: of none."""
        if run_id == self.run_id:
            return
        self.run_id = run_id
        self.machine = None
        self._first = self._newest = None
        self.cpu, self.memory = Track(), Track()
        self._feed.show(run_id)
        self.changed.emit()
        self.refresh_machine()

    def refresh_machine(self) -> None:
        """Again when a run is over: what it took in all is known then."""
        if not self.run_id or not self._link.has_client:
            return
        client, home, run_id = self._link.client, self._link.home, self.run_id

        def answered(machine: MachineFacts) -> None:
            if run_id == self.run_id:
                self.machine = machine
                self.changed.emit()

        self._tasks.run(self, lambda: fetch_machine(client, home, run_id), answered, lambda _: None)

    @property
    def has_samples(self) -> bool:
        return self._newest is not None

    @property
    def has_history(self) -> bool:
        """There is something to draw."""
        return len(self.memory.t) > 1 or len(self.cpu.t) > 1

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Name, value and what it means."""
        newest = self._newest
        ended = self.machine.exit if self.machine else None
        peak = max(self.memory.peak or 0.0, float(ended.max_rss_bytes if ended else 0))
        used_s = ended.cpu_s if ended and ended.cpu_s else (newest.cpu_s if newest else None)
        rows = [
            ("CPU now", percent(self.cpu.newest), "Of one processor, over the last few seconds"),
            ("CPU peak", percent(self.cpu.peak), "Of one processor, between two heartbeats"),
            ("memory now", _size(self.memory.newest), "Of the worker and what it started"),
            ("memory peak", _size(peak or None), "The most that was seen"),
            ("CPU time", run_text.duration(used_s) or _NONE, "All processors together"),
            ("threads", _count(newest.threads if newest else None), "Of all its processes"),
            ("processes", _count(newest.processes if newest else None), "The worker included"),
        ]
        return rows[1:2] + rows[3:] if ended else rows

    @property
    def machine_words(self) -> str:
        """`2 CPUs · 7.8 GB memory · no GPU`."""
        if self.machine is None:
            return ""
        health = self.machine.health
        gpus = ", ".join(health.gpus) or "no GPU"
        cpus = f"{health.cpus} CPU{'' if health.cpus == 1 else 's'}"
        memory = number_text.size(health.memory_mb * 1_048_576)
        free = number_text.size(health.disk_free_bytes)
        return f"{cpus} · {memory} memory · {gpus} · {free} free on its disk"

    @property
    def total_cpus(self) -> int:
        return self.machine.health.cpus if self.machine else 0

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    def _on_beat(self) -> bool:
        samples = self._feed.take()
        if not samples:
            return False
        for sample in samples:
            self._add(sample)
        self.changed.emit()
        return True

    def _add(self, sample: UsageSample) -> None:
        self._first = self._first or sample
        before, at = self._newest, sample.t - self._first.t
        if sample.rss_bytes:
            self.memory.add(at, float(sample.rss_bytes))
        if before is not None and sample.cpu_s is not None and before.cpu_s is not None:
            passed_s = sample.t - before.t
            if passed_s > 0:
                used_s = max(0.0, sample.cpu_s - before.cpu_s)
                self.cpu.add(at, used_s / passed_s * _HUNDRED)
        self._newest = sample


def percent(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f} %"


def _size(size_bytes: float | None) -> str:
    return _NONE if size_bytes is None else number_text.size(size_bytes)


def _count(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"

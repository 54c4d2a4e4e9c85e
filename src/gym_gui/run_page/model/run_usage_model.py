"""RunUsageModel: CPU and memory usage of a run over time, and its machine."""

from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from gym_gui.run_page.feed.run_usage_feed import (
    MachineInfo,
    RunUsageFeed,
    UsageSample,
    fetch_machine,
)
from gym_gui.runtime.models.services import Services
from mosaic.contract.formatting import format_clock, format_size

_NONE = "—"
_HUNDRED = 100.0


@dataclass(slots=True)
class UsageSeries:
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
    """At most once per tick."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.cpu = UsageSeries()
        """Percent of one CPU; several processes may exceed 100."""
        self.memory = UsageSeries()
        """In bytes."""
        self.machine: MachineInfo | None = None
        self._services = services
        self._first: UsageSample | None = None
        self._newest: UsageSample | None = None
        self._feed = RunUsageFeed(services.link, services.ticker, self)
        services.link.connected.connect(self.refresh_machine)
        services.ticker.subscribe(self, self._on_tick)

    def show(self, run_id: str) -> None:
        """Follow this run; an empty id stops."""
        if run_id == self.run_id:
            return
        self.run_id = run_id
        self.machine = None
        self._first = self._newest = None
        self.cpu, self.memory = UsageSeries(), UsageSeries()
        self._feed.follow(run_id)
        self.changed.emit()
        self.refresh_machine()

    def refresh_machine(self) -> None:
        """Also when a run finishes: its totals are known then."""
        if not self.run_id or not self._services.link.has_client:
            return
        home, run_id = self._services.link.home, self.run_id

        def answered(machine: MachineInfo) -> None:
            if run_id == self.run_id:
                self.machine = machine
                self.changed.emit()

        self._services.call(
            self, lambda client: fetch_machine(client, home, run_id), answered, lambda _: None
        )

    @property
    def has_samples(self) -> bool:
        return self._newest is not None

    @property
    def has_history(self) -> bool:
        """Whether there is something to plot."""
        return len(self.memory.t) > 1 or len(self.cpu.t) > 1

    @property
    def stats(self) -> list[tuple[str, str, str]]:
        """Name, value and tooltip."""
        newest = self._newest
        exit_record = self.machine.exit if self.machine else None
        peak = max(self.memory.peak or 0.0, float(exit_record.max_rss_bytes if exit_record else 0))
        used_s = (
            exit_record.cpu_s
            if exit_record and exit_record.cpu_s
            else (newest.cpu_s if newest else None)
        )
        rows = [
            ("CPU now", percent(self.cpu.newest), "Percent of one CPU, over the last few seconds"),
            ("CPU peak", percent(self.cpu.peak), "Percent of one CPU, between two heartbeats"),
            ("memory now", _size(self.memory.newest), "Worker and its child processes"),
            ("memory peak", _size(peak or None), "Highest value measured"),
            ("CPU time", format_clock(used_s) or _NONE, "Sum over all CPUs"),
            ("threads", _count(newest.threads if newest else None), "Of all its processes"),
            ("processes", _count(newest.processes if newest else None), "Including the worker"),
        ]
        return rows[1:2] + rows[3:] if exit_record else rows

    @property
    def machine_text(self) -> str:
        """`2 CPUs · 7.8 GB memory · no GPU`."""
        if self.machine is None:
            return ""
        health = self.machine.health
        gpus = ", ".join(health.gpus) or "no GPU"
        cpus = f"{health.cpus} CPU{'' if health.cpus == 1 else 's'}"
        memory = format_size(health.memory_mb * 1_048_576)
        free = format_size(health.disk_free_bytes)
        return f"{cpus} · {memory} memory · {gpus} · {free} free disk space"

    @property
    def total_cpus(self) -> int:
        return self.machine.health.cpus if self.machine else 0

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    def _on_tick(self) -> bool:
        samples = self._feed.drain()
        if not samples:
            return False
        for sample in samples:
            self._add(sample)
        self.changed.emit()
        return True

    def _add(self, sample: UsageSample) -> None:
        self._first = self._first or sample
        before, index = self._newest, sample.t - self._first.t
        if sample.rss_bytes:
            self.memory.add(index, float(sample.rss_bytes))
        if before is not None and sample.cpu_s is not None and before.cpu_s is not None:
            passed_s = sample.t - before.t
            if passed_s > 0:
                used_s = max(0.0, sample.cpu_s - before.cpu_s)
                self.cpu.add(index, used_s / passed_s * _HUNDRED)
        self._newest = sample


def percent(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f} %"


def _size(size_bytes: float | None) -> str:
    return _NONE if size_bytes is None else format_size(size_bytes)


def _count(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"

"""Measures cost and prints the tables and ratios of all benchmarks."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Cost:
    """Wall and CPU time of some work."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def measure_cost() -> Iterator[Cost]:
    """Measure the cost of the block in this process."""
    cost = Cost()
    wall, cpu = time.perf_counter(), time.process_time()
    yield cost
    cost.wall_s = time.perf_counter() - wall
    cost.cpu_s = time.process_time() - cpu


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def measure_ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def print_table(title: str, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a table: first column left-aligned, the others right-aligned."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(header[column]), *(len(row[column]) for row in cells))
        for column in range(len(header))
    ]
    print(f"\n{title}  (load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores)")
    for row in (list(header), *cells):
        first, *rest = row
        print("  ".join((first.ljust(widths[0]), *map(str.rjust, rest, widths[1:]))))


def print_ratio(label: str, ratio: float, goal: str) -> None:
    print(f"{label}: {ratio:.2f} x  (goal: {goal})")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)

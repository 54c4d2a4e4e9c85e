"""What to expect of a run, from earlier ones of the same worker, algorithm and environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mosaic.contract.run_config import StepDetail
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.run_rows import EarlierRun

_LINE_BYTES: dict[StepDetail, int] = {"all": 300, "sampled": 60, "columns": 20, "off": 2}
"""Of one step in the spool, by `telemetry.steps`, when no earlier run tells."""
_WITH_STORE = 1.3
"""The store made from the spool, and some room."""
_MIN_BYTES = 20 << 20
"""Checkpoints, event files and the log."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """None: nothing is known."""

    duration_s: float | None = None
    sps: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int = _MIN_BYTES
    runs: int = 0
    """How many earlier runs it rests on."""


def expect(
    steps: int | None,
    detail: StepDetail,
    earlier: Sequence[EarlierRun],
    records: Sequence[RunRecord],
) -> Expectation:
    """Of a run of so many `steps`, each told in that `detail`.

    `earlier` has how long runs took and what they used; `records` how much they wrote.
    """
    whole = [run for run in earlier if run.steps > 0]
    if steps is not None and whole:
        duration_s: float | None = median(run.duration_s / run.steps for run in whole) * steps
    else:
        duration_s = median(run.duration_s for run in earlier) if earlier else None
    speeds = [run.sps for run in earlier if run.sps is not None]
    memory = [run.rss_bytes for run in earlier if run.rss_bytes is not None]
    if steps is None and whole:
        steps = int(median(run.steps for run in whole))
    return Expectation(
        duration_s=duration_s,
        sps=median(speeds) if speeds else None,
        memory_bytes=max(memory, default=None),
        disk_bytes=_disk_bytes(detail, steps or 0, records),
        runs=len(earlier),
    )


def _disk_bytes(detail: StepDetail, steps: int, records: Sequence[RunRecord]) -> int:
    digests = [record.digest for record in records if record.digest.steps > 0]
    if digests:
        per_step = median(digest.spool_bytes / digest.steps for digest in digests)
    else:
        per_step = _LINE_BYTES[detail]
    return _MIN_BYTES + int(per_step * steps * _WITH_STORE)

"""Estimates for a run, from earlier ones of the same worker, algorithm and environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mosaic.contract.run_config import StepDetail
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.run_rows import EarlierRun

_LINE_BYTES: dict[StepDetail, int] = {"all": 300, "sampled": 60, "columns": 20, "off": 2}
"""Bytes per step in the spool, by `telemetry.steps`, when there is no earlier run."""
_WITH_STORE = 1.3
"""Factor for the store, which is built from the spool."""
_MIN_BYTES = 20 << 20
"""Checkpoints, event files and the log."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Estimates; None: unknown."""

    duration_s: float | None = None
    sps: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int = _MIN_BYTES
    runs: int = 0
    """Number of earlier runs it is based on."""


def expect(
    steps: int | None,
    detail: StepDetail,
    earlier: Sequence[EarlierRun],
    records: Sequence[RunRecord],
) -> Expectation:
    """Estimate a run of `steps` steps, recorded in this `detail`.

    `earlier` has durations and resource usage, `records` the sizes of earlier runs.
    """
    with_steps = [run for run in earlier if run.steps > 0]
    if steps is not None and with_steps:
        duration_s: float | None = median(run.duration_s / run.steps for run in with_steps) * steps
    else:
        duration_s = median(run.duration_s for run in earlier) if earlier else None
    speeds = [run.sps for run in earlier if run.sps is not None]
    memory = [run.rss_bytes for run in earlier if run.rss_bytes is not None]
    if steps is None and with_steps:
        steps = int(median(run.steps for run in with_steps))
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

"""Metrics on their way into the store: the lines as they are, and the curves they draw."""

import math
import sqlite3

from mosaic.contract import numbers
from mosaic.contract.events import Metric, absolute_time
from mosaic.telemetry import counters
from mosaic.telemetry.chunks import ChunkWriter
from mosaic.telemetry.curves import CurveWriter


class MetricWriter:
    """Takes metric lines in order of arrival."""

    def __init__(
        self, connection: sqlite3.Connection, tally: counters.Counters, run_started: float | None
    ) -> None:
        self._tally = tally
        self._run_started = run_started
        self._chunks = ChunkWriter(connection, "metric_chunk")
        self._curves = CurveWriter(connection)

    def add(self, event: Metric, line: bytes) -> None:
        agent_id = event.agent_id or ""
        step = math.nan if event.step is None else float(event.step)
        t = math.nan
        if event.t is not None:
            t = absolute_time(numbers.as_float(event.t), self._run_started)
        if event.values is not None:
            for name, value in event.values.items():
                self._curves.add(agent_id, name, step, t, numbers.as_float(value))
            self._tally.bump(counters.METRIC_POINTS, len(event.values))
        elif event.name is not None and event.value is not None:
            self._curves.add(agent_id, event.name, step, t, numbers.as_float(event.value))
            self._tally.bump(counters.METRIC_POINTS)
        self._chunks.extend([line])

    def flush(self) -> None:
        self._chunks.flush()
        self._curves.flush()

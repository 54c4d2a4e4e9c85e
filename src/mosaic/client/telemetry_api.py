"""Calls that read the telemetry of runs: streams with a cursor, and queries on the store."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from mosaic.client.api_base import ApiBase
from mosaic.client.former_names import accept_former_keywords
from mosaic.client.results import (
    CurvePoints,
    EventLine,
    Frame,
    Series,
)
from mosaic.client.streams import Stream
from mosaic.contract.compression import decompress
from mosaic.contract.decode import decode, decode_steps
from mosaic.contract.episodes import (
    EpisodeDetails,
    EpisodeOrder,
    EpisodePage,
    EpisodeRollup,
    EpisodeStatus,
    TelemetryStats,
)
from mosaic.contract.events import Metric, StepRecord, absolute_time
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message
from mosaic.contract.rpc.trainer_pb2 import LineChunk

_MAX_CHUNK_BYTES = 4 << 20
_MAX_LINE_LENGTH = 4 << 20
"""Characters. A longer line is split here, or joining its parts would take quadratic time."""


class LineCursor:
    """Returns each line once: a chunk may start before the last line that was returned."""

    def __init__(self, after: int) -> None:
        self.seq = after
        """Number of the last line that was returned."""

    def read_lines(self, chunk: LineChunk) -> list[tuple[int, bytes]]:
        text = decompress(chunk.zstd, _MAX_CHUNK_BYTES)
        first = max(chunk.first_seq, self.seq + 1)
        lines = list(enumerate(text.split(b"\n")[first - chunk.first_seq :], first))
        self.seq = max(self.seq, chunk.first_seq + chunk.lines - 1)
        return lines


class TimestampConverter:
    """Converts times relative to the start of the run; fetches the start only if needed."""

    def __init__(self, started_at: Callable[[], float | None]) -> None:
        self._fetch_start = started_at
        self._started_at: float | None = None

    def to_absolute(self, t: float) -> float:
        if self._started_at is None and absolute_time(t, 0.0) != absolute_time(t, 1.0):
            self._started_at = self._fetch_start()
        return absolute_time(t, self._started_at)


def decode_stored_steps(line: bytes, clock: TimestampConverter) -> list[StepRecord]:
    """Decode the steps of a stored line: one, or several if they are stored as columns."""
    steps = decode_steps(line)
    for step in steps:
        if step.t is not None:
            step.t = clock.to_absolute(step.t)
    return steps


def decode_metric(line: bytes, clock: TimestampConverter) -> Metric | None:
    """Decode the metric of a stored line; None if it is another event."""
    event = decode(line)
    if not isinstance(event, Metric):
        return None
    if event.t is not None:
        event.t = clock.to_absolute(event.t)
    return event


class LineSplitter:
    """Splits chunks of a log, which may end within a line or a UTF-8 sequence, into lines."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unfinished = ""

    def feed(self, chunk: bytes) -> list[str]:
        """Return the lines that are now complete, without line endings."""
        *lines, self._unfinished = (self._unfinished + self._decoder.decode(chunk)).split("\n")
        while len(self._unfinished) > _MAX_LINE_LENGTH:
            lines.append(self._unfinished[:_MAX_LINE_LENGTH])
            self._unfinished = self._unfinished[_MAX_LINE_LENGTH:]
        return lines

    def flush(self) -> list[str]:
        """Return the incomplete last line, if any, at the end of the log."""
        line = self._unfinished + self._decoder.decode(b"", final=True)
        self._unfinished = ""
        return [line] if line else []


class TelemetryApi(ApiBase):
    """Read telemetry. A `seq` is the number of a stored line; -1 means before the first."""

    def steps(
        self, run_id: str, *, after: int = -1, follow: bool = False, newest_only: bool = False
    ) -> Stream[tuple[int, StepRecord]]:
        """Stream the steps of a run in order of arrival, each with the `seq` of its line.

        With `follow` the stream continues until the run has finished. With `newest_only` it skips
        all but the newest step, for live views.

            for seq, step in client.steps(run_id, follow=True):
                print(step.episode_id, step.step, step.reward)
        """
        clock = self._make_clock(run_id)
        cursor = LineCursor(after)

        def unpack(chunk: pb.LineChunk) -> Iterator[tuple[int, StepRecord]]:
            for seq, line in cursor.read_lines(chunk):
                for step in decode_stored_steps(line, clock):
                    yield seq, step

        return self._stream(
            lambda stub: stub.StreamSteps,
            lambda: _stream_request(run_id, cursor, follow, newest_only),
            unpack,
        )

    def step_lines(
        self, run_id: str, *, after: int = -1, follow: bool = False, newest_only: bool = False
    ) -> Stream[tuple[int, bytes]]:
        """Stream the step lines as the worker wrote them, each with its `seq`."""
        cursor = LineCursor(after)
        return self._stream(
            lambda stub: stub.StreamSteps,
            lambda: _stream_request(run_id, cursor, follow, newest_only),
            cursor.read_lines,
        )

    def metrics(
        self, run_id: str, *, after: int = -1, follow: bool = False, newest_only: bool = False
    ) -> Stream[tuple[int, Metric]]:
        """Stream the metrics of a run in order of arrival, each with the `seq` of its line."""
        clock = self._make_clock(run_id)
        cursor = LineCursor(after)

        def unpack(chunk: pb.LineChunk) -> Iterator[tuple[int, Metric]]:
            for seq, line in cursor.read_lines(chunk):
                metric = decode_metric(line, clock)
                if metric is not None:
                    yield seq, metric

        return self._stream(
            lambda stub: stub.StreamMetrics,
            lambda: _stream_request(run_id, cursor, follow, newest_only),
            unpack,
        )

    def episodes(
        self, run_id: str, *, after: int = -1, follow: bool = False, min_interval_s: float = 0.0
    ) -> Stream[EpisodeRollup]:
        """Stream episodes that were added or changed since revision `after`.

        With `follow` an episode is repeated each time it changes.
        """
        revision = after

        def request() -> pb.StreamRequest:
            return pb.StreamRequest(
                run_id=run_id, after=revision, follow=follow, min_interval_s=min_interval_s
            )

        def unpack(batch: pb.EpisodeBatch) -> Iterator[EpisodeRollup]:
            nonlocal revision
            for message in batch.episodes:
                revision = max(revision, message.revision)
                yield from_message(message, EpisodeRollup)

        return self._stream(lambda stub: stub.StreamEpisodes, request, unpack)

    def events(
        self, run_id: str, *, after: int = -1, follow: bool = False, kind: str = ""
    ) -> Stream[EventLine]:
        """Stream all other lines (`hello`, `config`, `log`, `artifact`, `bye` …), or one `kind`.

        for event in client.events(run_id, kind="log"):
            print(event.decode().message)
        """
        seq = after

        def request() -> pb.StreamEventsRequest:
            return pb.StreamEventsRequest(run_id=run_id, after=seq, follow=follow, type=kind)

        def unpack(batch: pb.EventBatch) -> Iterator[EventLine]:
            nonlocal seq
            for message in batch.events:
                seq = max(seq, message.seq)
                yield from_message(message, EventLine)

        return self._stream(lambda stub: stub.StreamEvents, request, unpack)

    def logs(self, run_id: str = "", *, follow: bool = False, tail_lines: int = 0) -> Stream[str]:
        """Stream the lines of a run's `worker.log`; without a run, of the daemon's log.

        With `tail_lines`, start with the last N lines.
        """
        position, tail = 0, tail_lines
        splitter = LineSplitter()

        def request() -> pb.StreamLogsRequest:
            return pb.StreamLogsRequest(
                run_id=run_id, after=position, follow=follow, tail_lines=tail
            )

        def unpack(chunk: pb.LogPart) -> Iterable[str]:
            nonlocal position, tail
            position, tail = chunk.end, 0
            return splitter.feed(chunk.data)

        return self._stream(lambda stub: stub.StreamLogs, request, unpack, splitter.flush)

    def frames(self, run_id: str, *, max_fps: float = 0.0) -> Stream[Frame]:
        """Stream the newest frame of a running run; frames in between are skipped."""
        last = -1

        def unpack(message: pb.Frame) -> Iterator[Frame]:
            nonlocal last
            if message.number != last:
                last = message.number
                yield from_message(message, Frame)

        return self._stream(
            lambda stub: stub.StreamFrames,
            lambda: pb.StreamFramesRequest(run_id=run_id, max_fps=max_fps),
            unpack,
        )

    def episode_steps(
        self, run_id: str, episode: int, first: int = 0, count: int = 0
    ) -> list[StepRecord]:
        """Return `count` steps of an episode from `first` on; 0: as many as fit into an answer."""
        request = pb.QueryStepsRequest(run_id=run_id, episode=episode, first=first, count=count)
        answer = self._connection.call(lambda stub: stub.QuerySteps, request)
        clock = self._make_clock(run_id)
        return [step for line in answer.lines for step in decode_stored_steps(line, clock)]

    @accept_former_keywords(least_return="min_return", most_return="max_return")
    def episodes_page(
        self,
        run_id: str,
        *,
        first: int = 0,
        count: int = 200,
        order: EpisodeOrder = "episode",
        descending: bool = False,
        ended: EpisodeStatus = "",
        min_return: float | None = None,
        max_return: float | None = None,
    ) -> EpisodePage:
        """Return one page of the selected episodes and their total number.

        best = client.episodes_page(run_id, count=1, order="return", descending=True, ended="over")
        print(best.total, best.episodes[0].total_return)
        """
        request = pb.QueryEpisodesRequest(
            run_id=run_id,
            first=first,
            count=count,
            order=order,
            descending=descending,
            ended=ended,
            least_return=min_return,
            most_return=max_return,
        )
        answer = self._connection.call(lambda stub: stub.QueryEpisodes, request)
        return from_message(answer, EpisodePage)

    def episode(self, run_id: str, episode: int) -> EpisodeDetails:
        """Return one episode with its start and end lines and whether it can be replayed."""
        request = pb.EpisodeRef(run_id=run_id, episode=episode)
        return from_message(
            self._connection.call(lambda stub: stub.GetEpisode, request), EpisodeDetails
        )

    def curve(
        self,
        run_id: str,
        name: str,
        *,
        agent_id: str = "",
        max_points: int = 0,
        axis: Literal["step", "t"] = "step",
        first: float | None = None,
        last: float | None = None,
    ) -> CurvePoints:
        """Return a metric between `first` and `last` on `axis`, downsampled with min and max kept.

        points = client.curve(run_id, "charts/episodic_return", max_points=1000)
        plt.plot(points.x, points.y)
        """
        request = pb.QueryCurveRequest(
            run_id=run_id,
            name=name,
            agent_id=agent_id,
            max_points=max_points,
            axis=axis,
            first=first,
            last=last,
        )
        return from_message(
            self._connection.call(lambda stub: stub.QueryCurve, request), CurvePoints
        )

    def series(self, run_id: str) -> list[Series]:
        """List the stored metrics of a run."""
        answer = self._connection.call(lambda stub: stub.ListSeries, pb.RunRef(run_id=run_id))
        return [from_message(message, Series) for message in answer.series]

    def stats(self, run_id: str) -> TelemetryStats:
        """Return how much telemetry of a run is stored and how many lines were rejected."""
        return from_message(
            self._connection.call(lambda stub: stub.GetStats, pb.RunRef(run_id=run_id)),
            TelemetryStats,
        )

    def _make_clock(self, run_id: str) -> TimestampConverter:
        def started_at() -> float | None:
            run = self._connection.call(lambda stub: stub.GetRun, pb.RunRef(run_id=run_id)).run
            return run.started_at if run.HasField("started_at") else None

        return TimestampConverter(started_at)


def _stream_request(
    run_id: str, cursor: LineCursor, follow: bool, newest_only: bool
) -> pb.StreamRequest:
    return pb.StreamRequest(run_id=run_id, after=cursor.seq, follow=follow, newest_only=newest_only)

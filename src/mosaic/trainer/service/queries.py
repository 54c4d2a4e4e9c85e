"""Queries on a run's store: steps of an episode, pages of episodes, curves, counts."""

import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar, get_args

import msgspec

from mosaic.contract import numbers
from mosaic.contract.episodes import EpisodeOrder, EpisodeQuery, EpisodeStatus
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import RunDirectory
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.telemetry.curve_reader import Axis
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import run_in_long_thread, run_in_thread
from mosaic.trainer.service.errors import unknown_episode
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import (
    MAX_CURSOR,
    BadRequestError,
    checked_integer,
    checked_line,
    shown,
)
from mosaic.trainer.service.store_view import StoreView

Result = TypeVar("Result")

_STEPS = 1_000
_MAX_STEPS = 10_000
_STEPS_PER_READ = 128
_MAX_BYTES = 3 << 20
"""Maximum size of one response; the next call continues after it."""
_POINTS = 2_000
_MAX_POINTS = 100_000
_AXES: dict[str, Axis] = {"": "step", "step": "step", "t": "t"}


class QueryServicer(PartialServicer):
    """Each call opens the store, queries it and closes it. A run without a store is empty."""

    async def QuerySteps(self, request: pb.QueryStepsRequest, _: Context) -> pb.StepLines:
        first = checked_integer("first", request.first, 0, MAX_CURSOR)
        episode = checked_integer("episode", request.episode, 0, MAX_CURSOR)
        count = checked_integer("count", request.count, 0, _MAX_STEPS) or _STEPS

        def lines(reader: TelemetryReader) -> pb.StepLines | None:
            if reader.episode(episode) is None:
                return None
            return pb.StepLines(lines=_step_lines(reader, episode, first, count))

        found = await self._query(request.run_id, lines)
        if found is None:
            raise unknown_episode(request.run_id, episode)
        return found

    async def GetEpisode(self, request: pb.EpisodeRef, _: Context) -> pb.EpisodeDetails:
        episode = checked_integer("episode", request.episode, 0, MAX_CURSOR)
        found = await self._query(request.run_id, lambda reader: reader.episode_details(episode))
        if found is None:
            raise unknown_episode(request.run_id, episode)
        return to_message(found, pb.EpisodeDetails)

    async def QueryCurve(self, request: pb.QueryCurveRequest, _: Context) -> pb.CurvePoints:
        name = checked_line("name", request.name, 1_000)
        agent_id = checked_line("agent_id", request.agent_id, 1_000)
        max_points = checked_integer("max_points", request.max_points, 0, _MAX_POINTS) or _POINTS
        axis = _axis(request.axis)
        first = checked_bound("first", request.first) if request.HasField("first") else None
        last = checked_bound("last", request.last) if request.HasField("last") else None

        def points(reader: TelemetryReader) -> pb.CurvePoints:
            curve = reader.curve(
                name, agent_id=agent_id, max_points=max_points, axis=axis, first=first, last=last
            )
            return pb.CurvePoints(x=curve.x, y=curve.y, points=curve.points)

        return await self._query(request.run_id, points) or pb.CurvePoints()

    async def ListSeries(self, request: pb.RunRef, _: Context) -> pb.SeriesList:
        def series(reader: TelemetryReader) -> pb.SeriesList:
            return pb.SeriesList(
                series=[
                    pb.Series(name=info.name, agent_id=info.agent_id, points=info.points)
                    for info in reader.series()
                ]
            )

        return await self._query(request.run_id, series) or pb.SeriesList()

    async def GetStats(self, request: pb.RunRef, _: Context) -> pb.TelemetryCounts:
        def counts(reader: TelemetryReader) -> pb.TelemetryCounts:
            return pb.TelemetryCounts(**msgspec.structs.asdict(reader.stats()))

        return await self._query(request.run_id, counts) or pb.TelemetryCounts()

    async def _query(
        self, run_id: str, query: Callable[[TelemetryReader], Result]
    ) -> Result | None:
        run = await existing_run(self._trainer, run_id)
        return await run_in_thread(query_store, run, query)


def query_store(run: RunDirectory, query: Callable[[TelemetryReader], Result]) -> Result | None:
    """The result of `query` on the store of `run`; None while nothing is stored. Blocking."""
    with StoreView(run) as view:
        return view.read(query)


def _step_lines(reader: TelemetryReader, episode: int, first: int, count: int) -> Iterator[bytes]:
    """As many as fit into one response, and at least one."""
    free_bytes = _MAX_BYTES
    end = first + count
    for start in range(first, end, _STEPS_PER_READ):
        # An empty range is not the end: a worker that samples steps leaves gaps.
        for step in reader.steps(episode, start, min(start + _STEPS_PER_READ, end) - 1):
            line = _line(step)
            if len(line) > free_bytes and free_bytes < _MAX_BYTES:
                return
            free_bytes -= len(line)
            yield line


def _line(step: StepRecord) -> bytes:
    return msgspec.json.encode(numbers.to_wire(msgspec.to_builtins(step)))


def _axis(name: str) -> Axis:
    if name not in _AXES:
        raise BadRequestError("axis", f"is {shown(name)}.", "Send `step` or `t`.")
    return _AXES[name]


def checked_bound(field: str, value: float) -> float:
    """A number, possibly infinite."""
    if math.isnan(value):
        raise BadRequestError(field, "is not a number.", "Send a number, or leave it out.")
    return value


_EPISODES = 200
_MAX_EPISODES = 10_000
_ORDERS: tuple[EpisodeOrder, ...] = get_args(EpisodeOrder)
_ENDINGS: tuple[EpisodeStatus, ...] = get_args(EpisodeStatus)


class EpisodeQueryServicer(PartialServicer):
    """Pages of episodes in any order. A run without a store has no episodes."""

    _episode_pages: EpisodePages

    async def QueryEpisodes(self, request: pb.QueryEpisodesRequest, _: Context) -> pb.EpisodePage:
        first = checked_integer("first", request.first, 0, MAX_CURSOR)
        count = checked_integer("count", request.count, 0, _MAX_EPISODES) or _EPISODES
        choice = _choice(request)
        run = await existing_run(self._trainer, request.run_id)

        def page(reader: TelemetryReader) -> pb.EpisodePage:
            found = self._episode_pages.page(run.run_id, reader, choice, first, count)
            return to_message(found, pb.EpisodePage)

        # Ranking a million episodes takes a second, when it has to be done; so does making a
        # message of the largest page.
        return await run_in_long_thread(query_store, run, page) or pb.EpisodePage()


def _choice(request: pb.QueryEpisodesRequest) -> EpisodeQuery:
    order = next((each for each in _ORDERS if each == (request.order or "episode")), None)
    if order is None:
        raise BadRequestError(
            "order", f"is {shown(request.order)}.", "Send `episode`, `return` or `steps`."
        )
    ended = next((each for each in _ENDINGS if each == request.ended), None)
    if ended is None:
        raise BadRequestError(
            "ended",
            f"is {shown(request.ended)}.",
            "Send `over`, `terminated`, `truncated`, `open`, or nothing for any.",
        )
    return EpisodeQuery(
        order=order,
        descending=request.descending,
        ended=ended,
        min_return=_bound(request, "least_return"),
        max_return=_bound(request, "most_return"),
    )


def _bound(
    request: pb.QueryEpisodesRequest, field: Literal["least_return", "most_return"]
) -> float | None:
    value: float = getattr(request, field)
    return checked_bound(field, value) if request.HasField(field) else None

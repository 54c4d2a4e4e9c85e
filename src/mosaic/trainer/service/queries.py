"""Questions about what is stored of a run: steps of an episode, curves, counts."""

import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar, get_args

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import RunDirectory
from mosaic.contract.rollups import EpisodeChoice, EpisodeEnding, EpisodeOrder
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.telemetry.curve_reader import Axis
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import in_long_thread, in_thread
from mosaic.trainer.service.errors import NoSuchEpisodeError
from mosaic.trainer.service.partial_servicer import Context, ServicePart, existing_run
from mosaic.trainer.service.request_checks import (
    LARGEST_CURSOR,
    BadRequestError,
    checked_line,
    checked_whole,
    shown,
)
from mosaic.trainer.service.store_view import StoreView

Result = TypeVar("Result")

_STEPS = 1_000
_MOST_STEPS = 10_000
_STEPS_PER_LOOK = 128
_MOST_BYTES = 3 << 20
"""Of one answer, so that any client takes it; the next call begins where it ended."""
_POINTS = 2_000
_MOST_POINTS = 100_000
_AXES: dict[str, Axis] = {"": "step", "step": "step", "t": "t"}


class QueryCalls(ServicePart):
    """Each opens the store, asks and closes it again. A run without lines yet is an empty one."""

    async def QuerySteps(self, request: pb.QueryStepsRequest, _: Context) -> pb.StepLines:
        first = checked_whole("first", request.first, 0, LARGEST_CURSOR)
        episode = checked_whole("episode", request.episode, 0, LARGEST_CURSOR)
        count = checked_whole("count", request.count, 0, _MOST_STEPS) or _STEPS

        def lines(reader: TelemetryReader) -> pb.StepLines | None:
            if reader.episode(episode) is None:
                return None
            return pb.StepLines(lines=_step_lines(reader, episode, first, count))

        found = await self._ask(request.run_id, lines)
        if found is None:
            raise NoSuchEpisodeError(request.run_id, episode)
        return found

    async def GetEpisode(self, request: pb.EpisodeRef, _: Context) -> pb.EpisodeDetails:
        episode = checked_whole("episode", request.episode, 0, LARGEST_CURSOR)
        found = await self._ask(request.run_id, lambda reader: reader.episode_details(episode))
        if found is None:
            raise NoSuchEpisodeError(request.run_id, episode)
        return to_message(found, pb.EpisodeDetails)

    async def QueryCurve(self, request: pb.QueryCurveRequest, _: Context) -> pb.CurvePoints:
        name = checked_line("name", request.name, 1_000)
        agent_id = checked_line("agent_id", request.agent_id, 1_000)
        most = checked_whole("max_points", request.max_points, 0, _MOST_POINTS) or _POINTS
        axis = _axis(request.axis)
        first = checked_bound("first", request.first) if request.HasField("first") else None
        last = checked_bound("last", request.last) if request.HasField("last") else None

        def points(reader: TelemetryReader) -> pb.CurvePoints:
            curve = reader.curve(
                name, agent_id=agent_id, max_points=most, axis=axis, first=first, last=last
            )
            return pb.CurvePoints(x=curve.x, y=curve.y, points=curve.points)

        return await self._ask(request.run_id, points) or pb.CurvePoints()

    async def ListSeries(self, request: pb.RunRef, _: Context) -> pb.SeriesList:
        def series(reader: TelemetryReader) -> pb.SeriesList:
            return pb.SeriesList(
                series=[
                    pb.Series(name=info.name, agent_id=info.agent_id, points=info.points)
                    for info in reader.series()
                ]
            )

        return await self._ask(request.run_id, series) or pb.SeriesList()

    async def GetStats(self, request: pb.RunRef, _: Context) -> pb.TelemetryCounts:
        def counts(reader: TelemetryReader) -> pb.TelemetryCounts:
            return pb.TelemetryCounts(**msgspec.structs.asdict(reader.stats()))

        return await self._ask(request.run_id, counts) or pb.TelemetryCounts()

    async def _ask(
        self, run_id: str, question: Callable[[TelemetryReader], Result]
    ) -> Result | None:
        run = await existing_run(self._trainer, run_id)
        return await in_thread(answer, run, question)


def answer(run: RunDirectory, question: Callable[[TelemetryReader], Result]) -> Result | None:
    """What the store of `run` answers; None while nothing is stored. Blocks."""
    with StoreView(run) as view:
        return view.read(question)


def _step_lines(reader: TelemetryReader, episode: int, first: int, count: int) -> Iterator[bytes]:
    """As many as fit one answer, and one at the least."""
    room = _MOST_BYTES
    end = first + count
    for start in range(first, end, _STEPS_PER_LOOK):
        # An empty look is not the end: a worker that sends samples leaves gaps.
        for step in reader.steps(episode, start, min(start + _STEPS_PER_LOOK, end) - 1):
            line = _line(step)
            if len(line) > room and room < _MOST_BYTES:
                return
            room -= len(line)
            yield line


def _line(step: StepRecord) -> bytes:
    return msgspec.json.encode(numbers.to_wire(msgspec.to_builtins(step)))


def _axis(word: str) -> Axis:
    if word not in _AXES:
        raise BadRequestError("axis", f"is {shown(word)}.", "It is `step` or `t`.")
    return _AXES[word]


def checked_bound(field: str, value: float) -> float:
    """A number, which may be infinite."""
    if math.isnan(value):
        raise BadRequestError(field, "is not a number.", "Send a number, or leave it out.")
    return value


_EPISODES = 200
_MOST_EPISODES = 10_000
_ORDERS: tuple[EpisodeOrder, ...] = get_args(EpisodeOrder)
_ENDINGS: tuple[EpisodeEnding, ...] = get_args(EpisodeEnding)


class EpisodeQueryCalls(ServicePart):
    """A run without lines yet has no episodes."""

    _episode_pages: EpisodePages

    async def QueryEpisodes(self, request: pb.QueryEpisodesRequest, _: Context) -> pb.EpisodePage:
        first = checked_whole("first", request.first, 0, LARGEST_CURSOR)
        count = checked_whole("count", request.count, 0, _MOST_EPISODES) or _EPISODES
        choice = _choice(request)
        run = await existing_run(self._trainer, request.run_id)

        def page(reader: TelemetryReader) -> pb.EpisodePage:
            found = self._episode_pages.page(run.run_id, reader, choice, first, count)
            return to_message(found, pb.EpisodePage)

        # Ranking a million episodes takes a second, when it has to be done; so does making a
        # message of the largest page.
        return await in_long_thread(answer, run, page) or pb.EpisodePage()


def _choice(request: pb.QueryEpisodesRequest) -> EpisodeChoice:
    order = next((each for each in _ORDERS if each == (request.order or "episode")), None)
    if order is None:
        raise BadRequestError(
            "order", f"is {shown(request.order)}.", "It is `episode`, `return` or `steps`."
        )
    ended = next((each for each in _ENDINGS if each == request.ended), None)
    if ended is None:
        raise BadRequestError(
            "ended",
            f"is {shown(request.ended)}.",
            "It is `over`, `terminated`, `truncated`, `open`, or empty for any.",
        )
    return EpisodeChoice(
        order=order,
        descending=request.descending,
        ended=ended,
        least_return=_bound(request, "least_return"),
        most_return=_bound(request, "most_return"),
    )


def _bound(
    request: pb.QueryEpisodesRequest, field: Literal["least_return", "most_return"]
) -> float | None:
    value: float = getattr(request, field)
    return checked_bound(field, value) if request.HasField(field) else None

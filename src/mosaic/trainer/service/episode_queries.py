"""Episodes of a run by page, in any order: for tables that show a million of them."""

from typing import Literal, get_args

from mosaic.contract.episodes import EpisodeOrder, EpisodeQuery, EpisodeStatus
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.concurrency import in_long_thread
from mosaic.trainer.service.queries import answer, checked_bound
from mosaic.trainer.service.request_checks import (
    LARGEST_CURSOR,
    BadRequestError,
    checked_whole,
    shown,
)
from mosaic.trainer.service.service_part import Context, ServicePart, existing_run

_EPISODES = 200
_MOST_EPISODES = 10_000
_ORDERS: tuple[EpisodeOrder, ...] = get_args(EpisodeOrder)
_ENDINGS: tuple[EpisodeStatus, ...] = get_args(EpisodeStatus)


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


def _choice(request: pb.QueryEpisodesRequest) -> EpisodeQuery:
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
    return EpisodeQuery(
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

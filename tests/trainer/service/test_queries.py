"""Queries of stored telemetry: steps of an episode, curves, series, counts."""

import json
import math
from typing import Any

import grpc
import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process


@pytest.fixture
def run_id(daemon: DaemonUnderTest) -> str:
    """A finished run of five episodes."""
    run_id = daemon.submit(steps=1000, episode_length=200)
    daemon.until(run_id)
    return run_id


def _steps(daemon: DaemonUnderTest, **fields: Any) -> list[Any]:
    response = daemon.stub.QuerySteps(pb.QueryStepsRequest(**fields))
    return [json.loads(line) for line in response.lines]


def test_steps_of_an_episode(daemon: DaemonUnderTest, run_id: str) -> None:
    """The requested range in order, limited to the existing steps."""
    steps = _steps(daemon, run_id=run_id, episode=3, first=190, count=50)
    assert [step["step"] for step in steps] == list(range(190, 200))
    assert {step["type"] for step in steps} == {"step"}
    assert len(_steps(daemon, run_id=run_id, episode=0)) == 200


def test_an_unknown_episode(daemon: DaemonUnderTest, run_id: str) -> None:
    """The call fails with NOT_FOUND."""
    with pytest.raises(grpc.RpcError) as caught:
        _steps(daemon, run_id=run_id, episode=99)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert "no episode 99" in (caught.value.details() or "")


def test_a_large_response_is_truncated(daemon: DaemonUnderTest) -> None:
    """It fits into gRPC's default limit, and a client can request the rest."""
    run_id = daemon.submit(steps=200, episode_length=200, line_bytes=100_000)
    daemon.until(run_id)
    with grpc.insecure_channel(daemon.address) as channel:  # with gRPC's default limit of 4 MiB
        query_steps = channel.unary_unary(
            "/mosaic.trainer.v1.TrainerService/QuerySteps",
            request_serializer=pb.QueryStepsRequest.SerializeToString,
            response_deserializer=pb.StepLines.FromString,
        )
        first, requests = 0, 0
        while first < 200:
            request = pb.QueryStepsRequest(run_id=run_id, first=first, count=1000)
            lines = query_steps(request, metadata=daemon.metadata).lines
            assert [json.loads(line)["step"] for line in lines] == list(
                range(first, first + len(lines))
            )
            assert lines
            first += len(lines)
            requests += 1
    assert requests > 5


def test_numbers_that_json_does_not_support(daemon: DaemonUnderTest) -> None:
    """NaN and infinite values are returned as strings."""
    run_id = daemon.submit(steps=1_000_000, rate=10)
    step = {"type": "step", "episode_id": "nan", "step": 0, "action": "-Infinity", "reward": "NaN"}
    line = json.dumps({**step, "terminated": False, "truncated": True}) + "\n"
    eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)).steps)
    with daemon.run(run_id).spool.open("a") as spool:
        spool.write(line)

    def nan_episode() -> int | None:
        request = pb.StreamRequest(run_id=run_id, after=-1)
        for batch in daemon.stub.StreamEpisodes(request):
            for episode in batch.episodes:
                if episode.episode_id == "nan":
                    assert math.isnan(episode.total_return)
                    return episode.episode
        return None

    (stored,) = _steps(daemon, run_id=run_id, episode=eventually(nan_episode))
    assert stored["reward"] == "NaN"
    assert stored["action"] == "-Infinity"


def test_episodes_by_page(daemon: DaemonUnderTest, run_id: str) -> None:
    """The requested page in the requested order, and the total number."""
    query_episodes = daemon.stub.QueryEpisodes
    page = query_episodes(pb.QueryEpisodesRequest(run_id=run_id, first=1, count=3, descending=True))
    assert ([episode.episode for episode in page.episodes], page.total) == ([3, 2, 1], 5)
    assert {episode.steps for episode in page.episodes} == {200}
    ranked = query_episodes(pb.QueryEpisodesRequest(run_id=run_id, order="return", ended="over"))
    returns = [episode.total_return for episode in ranked.episodes]
    assert returns == sorted(returns)
    assert ranked.total == 5
    above = pb.QueryEpisodesRequest(run_id=run_id, least_return=max(returns) + 1.0)
    assert query_episodes(above) == pb.EpisodePage()


def test_curves(daemon: DaemonUnderTest, run_id: str) -> None:
    """All series, the requested number of points, and any range of them."""
    series = {info.name: info for info in daemon.stub.ListSeries(pb.RunRef(run_id=run_id)).series}
    name = max(series, key=lambda name: series[name].points)
    complete = daemon.stub.QueryCurve(pb.QueryCurveRequest(run_id=run_id, name=name))
    assert len(complete.x) == len(complete.y) == complete.points == series[name].points
    reduced = daemon.stub.QueryCurve(pb.QueryCurveRequest(run_id=run_id, name=name, max_points=4))
    assert len(reduced.x) <= 4
    assert reduced.points == complete.points
    middle = daemon.stub.QueryCurve(
        pb.QueryCurveRequest(run_id=run_id, name=name, first=complete.x[1], last=complete.x[-2])
    )
    assert list(middle.x) == list(complete.x)[1:-1]
    by_time = daemon.stub.QueryCurve(pb.QueryCurveRequest(run_id=run_id, name=name, axis="t"))
    assert by_time.points == complete.points
    assert not daemon.stub.QueryCurve(pb.QueryCurveRequest(run_id=run_id, name="none")).x


def test_counts(daemon: DaemonUnderTest, run_id: str) -> None:
    """The numbers of stored lines; all bytes of the spool are committed."""
    counts = daemon.stub.GetStats(pb.RunRef(run_id=run_id))
    assert (counts.steps, counts.episodes, counts.rejects) == (1000, 5, 0)
    assert counts.types["step"] == 1000
    assert counts.spool_bytes == counts.committed_bytes == daemon.run(run_id).spool.stat().st_size

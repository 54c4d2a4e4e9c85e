"""A real episode, replayed, verified and exported through a real daemon."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import gymnasium
import msgspec
import pytest

from mosaic.client import TrainerClient
from mosaic.replay.episode_replay import EpisodeReplay
from mosaic.replay.export.export_job import ExportJob
from mosaic.replay.export.export_request import ExportFormat, ExportRequest
from mosaic.replay.verification import verify
from tests.replay.recorded_worker import CHANGED_STEP, WORKER, install_recorded_worker, lines
from tests.replay.stand_in import TIMEOUT_S
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TrainerClient, str]]:
    """A client, and the run that has the episodes."""
    daemon = DaemonUnderTest(tmp_path_factory.mktemp("replay"))
    install_recorded_worker(daemon.folder / "workers", daemon.home.settings)
    try:
        assert daemon.start().startswith("ready ")
        with TrainerClient.connect(daemon.home) as client:
            run = client.submit({"worker": WORKER, "algo": "recorded", "env_id": "CartPole-v1"})
            assert client.wait(run.run_id).state == "succeeded"
            yield client, run.run_id
    finally:
        daemon.clean_up()


def steps_of(episode: int) -> list[object]:
    return [
        line for line in lines() if line["type"] == "step" and line["episode_id"] == f"e{episode}"
    ]


def test_frames_match_rendering(recorded: tuple[TrainerClient, str]) -> None:
    """Every frame, also out of order."""
    client, run_id = recorded
    env: Any = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=0)
    rendered = [env.render()]
    actions = [step.action for step in client.episode_steps(run_id, 0)]
    for action in actions:
        env.step(action)
        rendered.append(env.render())
    env.close()
    with EpisodeReplay(client, run_id, 0) as replay:
        for index in (len(actions), 0, 4, 3):
            frame = replay.wait_frame(index, TIMEOUT_S)
            assert frame is not None, replay.state
            assert (frame.width, frame.height, frame.channels) == (600, 400, 3)
            assert frame.pixels == rendered[index].tobytes()
        eventually(lambda: replay.state.is_checked)
        state = replay.state
        assert (state.checked_steps, state.first_difference) == (len(actions), None)
    assert replay.join(TIMEOUT_S)


def test_verifying(recorded: tuple[TrainerClient, str]) -> None:
    """Correct records are identical; others differ at the right step."""
    client, run_id = recorded
    correct = verify(client, run_id, 0)
    assert (correct.identical, correct.steps) == (True, len(steps_of(0)))
    changed = verify(client, run_id, 1)
    assert (changed.identical, changed.first_difference) == (False, CHANGED_STEP)
    assert "7" in changed.difference
    assert verify(client, run_id, 3).identical


def test_exporting(recorded: tuple[TrainerClient, str], tmp_path: Path) -> None:
    """A video with captions, and the lines as they were written."""
    client, run_id = recorded
    target = tmp_path / "episode.mp4"
    request = ExportRequest(target=target, format=ExportFormat.MP4, overlay=True)
    result = ExportJob(client, run_id, 0, request).result()
    steps = steps_of(0)
    assert result.frames == len(steps) + 1
    with av.open(str(target)) as container:
        assert sum(1 for _ in container.decode(video=0)) == result.frames
        assert container.streams.video[0].average_rate == 50
    target = tmp_path / "episode.jsonl"
    request = ExportRequest(target=target, format=ExportFormat.JSONL)
    ExportJob(client, run_id, 0, request).result()
    written = [msgspec.json.decode(line) for line in target.read_bytes().splitlines()]
    kinds = [line["type"] for line in written]
    assert kinds == ["environment", "episode_start", *["step"] * len(steps), "episode"]
    assert written[2:-1] == steps
    everything = list(lines())
    assert all(line in everything for line in written)

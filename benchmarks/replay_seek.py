"""Random access to the cached frames of an episode of 600 x 400 pixels.

The baseline decodes the same step from an MP4 of the same frames, as video recorders do.

benchmarks/run replay_seek [--frames N] [--seeks N]
"""

import argparse
import queue
import random
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import zstandard
from PIL import Image, ImageDraw
from report import percentile, print_ratio, print_table

from mosaic.client.resimulation import (
    FramesDone,
    SimulatedFrame,
    SimulationMessage,
    SimulationOpened,
)
from mosaic.replay.episode_replay import EpisodeReplay
from mosaic.replay.export.video_writers import Mp4Writer

_WIDTH, _HEIGHT, _FPS = 600, 400, 50
_TIMEOUT_S = 120.0


def render_frame(index: int, *, is_textured: bool) -> Image.Image:
    """Render a synthetic frame with a plain or a noisy background."""
    chooser = random.Random(1)
    sky = Image.new("RGB", (_WIDTH, _HEIGHT), (8, 8, 20))
    image = Image.effect_noise(sky.size, 20).convert("RGB") if is_textured else sky
    pen = ImageDraw.Draw(image)
    for _ in range(60):
        x, y = chooser.randrange(_WIDTH), chooser.randrange(_HEIGHT)
        pen.ellipse((x, y, x + 2, y + 2), (200, 200, 255))
    ridge = [(x, 300 + chooser.randrange(60)) for x in range(0, _WIDTH + 1, 50)]
    pen.polygon([(0, _HEIGHT), *ridge, (_WIDTH, _HEIGHT)], (220, 220, 220))
    x, y = (index * 3) % _WIDTH, 60 + (index * 2) % 200
    pen.polygon([(x, y), (x + 30, y + 5), (x + 24, y + 30), (x - 6, y + 26)], (130, 100, 230))
    return image


class InProcessSimulation:
    """Frames that exist already: only the path from memory to an image is measured."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = frames
        self._requests: queue.SimpleQueue[tuple[int, int, int] | None] = queue.SimpleQueue()
        self._numbers = 0

    @property
    def opened(self) -> SimulationOpened:
        return SimulationOpened(steps=len(self._frames) - 1, fps=_FPS)

    def request_frames(self, first: int, count: int = 0) -> int:
        self._numbers += 1
        self._requests.put((self._numbers, first, count))
        return self._numbers

    def close(self) -> None:
        self._requests.put(None)

    def __iter__(self) -> Iterator[SimulationMessage]:
        while (frame_request := self._requests.get()) is not None:
            request, first, count = frame_request
            for index in range(first, first + count):
                yield SimulatedFrame(
                    request=request,
                    index=index,
                    width=_WIDTH,
                    height=_HEIGHT,
                    channels=3,
                    zstd=self._frames[index],
                )
            yield FramesDone(request=request)


class InProcessSource:
    """Stands in for a client."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = frames

    def resimulate(
        self, run_id: str, episode: int, *, verify_only: bool = False
    ) -> InProcessSimulation:
        del run_id, episode, verify_only
        return InProcessSimulation(self._frames)


def replay_times(frames: list[bytes], indices: list[int]) -> list[float]:
    """Return the milliseconds of each seek with all frames in memory."""
    with EpisodeReplay(InProcessSource(frames), "run", 0) as replay:
        deadline = time.monotonic() + _TIMEOUT_S
        while replay.state.cached != (range(len(frames)),):
            assert time.monotonic() < deadline, replay.state
            time.sleep(0.01)
        times = []
        for index in indices:
            start = time.perf_counter()
            replay.seek(index)
            frame = replay.frame(index)
            times.append((time.perf_counter() - start) * 1_000)
            assert frame is not None
            assert frame.index == index
            assert len(frame.pixels) == _WIDTH * _HEIGHT * 3
    return times


def mp4_times(path: Path, indices: list[int]) -> list[float]:
    """Return the same for a video: seek to the keyframe, then decode."""
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        ticks = Fraction(1, _FPS) / stream.time_base
        times = []
        for index in indices:
            start = time.perf_counter()
            target_pts = int(index * ticks)
            container.seek(target_pts, stream=stream)
            for frame in container.decode(stream):
                if frame.pts >= target_pts:
                    pixels = frame.to_rgb().planes[0]
                    break
            times.append((time.perf_counter() - start) * 1_000)
            assert frame.pts == target_pts
            assert pixels.buffer_size >= _WIDTH * _HEIGHT * 3
    return times


def measure(count: int, seeks: int, *, is_textured: bool) -> list[tuple[object, ...]]:
    """Return the rows of the table: ours, and the video."""
    compressor = zstandard.ZstdCompressor(level=1)
    frames = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "episode.mp4"
        writer = Mp4Writer(path, _WIDTH, _HEIGHT, Fraction(_FPS))
        for index in range(count):
            drawn = render_frame(index, is_textured=is_textured)
            frames.append(compressor.compress(drawn.tobytes()))
            writer.write(drawn)
        writer.finish()
        video_bytes = path.stat().st_size
        chooser = random.Random(7)
        indices = [chooser.randrange(count) for _ in range(seeks)]
        ours = replay_times(frames, indices)
        video = mp4_times(path, indices)
    kind = "textured" if is_textured else "drawn"
    return [
        (f"{name}, {kind}", percentile(times, 0.5), percentile(times, 0.99), size / count / 1_000)
        for name, times, size in (
            ("mosaic", ours, sum(map(len, frames))),
            ("MP4 with PyAV", video, video_bytes),
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000)
    parser.add_argument("--seeks", type=int, default=300)
    options = parser.parse_args()
    drawn = measure(options.frames, options.seeks, is_textured=False)
    # As many as fit into the cache, so that both cases are about memory.
    textured = measure(min(options.frames, 300), options.seeks, is_textured=True)
    print_table(
        f"A frame of {_WIDTH}x{_HEIGHT}x3 from anywhere in an episode",
        ("from", "p50 ms", "p99 ms", "kB a frame"),
        [*drawn, *textured],
    )
    for kind, ((_, ours, *_), (_, video, *_)) in (("drawn", drawn), ("textured", textured)):
        assert isinstance(ours, float)
        assert isinstance(video, float)
        print_ratio(f"video against cache, {kind}", video / ours, "p99 in memory 5 ms or less")


main()

"""Writes an episode as a video: simulated frames, captions, frame rate, and the writer."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic.client.resimulation import FramesDone, SimulatedFrame, SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from mosaic.replay.export.export_task import ExportTask
from mosaic.replay.export.media_libraries import pillow, pyav
from mosaic.replay.export.overlay import ActionNames, Captions, Overlay
from mosaic.replay.export.video_writers import GIF_MAX_FPS, MP4_MAX_FPS, GifWriter, Mp4Writer
from mosaic.replay.replay_state import ReplayFrame, unpack_frame
from mosaic.replay.simulation import SimulationStream

if TYPE_CHECKING:
    from PIL import Image

DEFAULT_FPS = 30.0
"""Frame rate of an environment that does not specify one."""
_MAX_FPS_DENOMINATOR = 1_000
_IMAGE_MODES = {1: "L", 3: "RGB", 4: "RGBA"}

Writer = Mp4Writer | GifWriter


def write_video(task: ExportTask, path: Path) -> ExportResult:
    """Write the selected frames to `path`. Raises `UserError`."""
    pillow(), pyav()  # fail before the simulation if one is missing
    simulation = task.simulate()
    try:
        with task.cancellation.interrupt_with(simulation.close):
            return _VideoExport(task, simulation).write(path)
    except UserError:
        task.cancellation.check()
        raise
    finally:
        simulation.close()


class _VideoExport:
    def __init__(self, task: ExportTask, simulation: SimulationStream) -> None:
        self._task = task
        self._simulation = simulation
        self._checked = SimulationChecked(steps=0, is_over=False)

    def write(self, path: Path) -> ExportResult:
        opened = self._simulation.opened
        request = self._task.request
        steps = request.select_steps(opened.steps)
        frames = range(steps.start, steps.stop + 1)
        video = _VideoFile(path, request, opened.fps, self._captions(steps, opened.steps))
        normalizer = _FrameNormalizer()
        try:
            for done, frame in enumerate(self._frames(frames), 1):
                for index, image in normalizer.to_images(frame):
                    video.add(image, index, frames)
                self._task.on_progress(done, len(frames))
            normalizer.check()
            video.finish()
        except BaseException:
            video.abandon()
            raise
        return ExportResult(
            path=request.target,
            size_bytes=path.stat().st_size,
            frames=video.frames,
            duration_s=video.rate.duration_s(video.frames),
            warnings=(*opened.warnings, *self._difference_warnings(steps)),
            first_difference=self._difference_within(steps),
        )

    def _frames(self, frames: range) -> Iterator[ReplayFrame]:
        request = self._simulation.request_frames(frames.start, len(frames))
        for message in self._simulation:
            self._task.cancellation.check()
            if isinstance(message, SimulatedFrame):
                yield unpack_frame(message)
            elif isinstance(message, SimulationChecked):
                self._checked = message
            elif isinstance(message, FramesDone) and message.request == request:
                return
        self._task.cancellation.check()
        raise UserError(
            f"The simulation of episode {self._task.episode} ended before the last frame.",
            remedy="Try again; see the daemon's log under logs/ of the home.",
            code="C183",
        )

    def _captions(self, steps: range, steps_of_episode: int) -> Captions | None:
        if not self._task.request.overlay:
            return None
        names = ActionNames(self._task.details().environment_json)
        # From the first step on, because the return is accumulated.
        return Captions(self._task.steps(0, steps.stop), names, steps_of_episode - 1)

    def _difference_within(self, steps: range) -> int | None:
        difference = self._checked.first_difference
        return difference if difference is not None and difference < steps.stop else None

    def _difference_warnings(self, steps: range) -> tuple[str, ...]:
        difference = self._difference_within(steps)
        if difference is None:
            return ()
        text = f"From step {difference} on, the frames differ from the recorded episode"
        return (f"{text}: {self._checked.difference}",)


class _VideoFile:
    """The file that is being written; the first frame determines its size."""

    def __init__(
        self, path: Path, request: ExportRequest, fps: float, captions: Captions | None
    ) -> None:
        self._path = path
        self._captions = captions
        self._overlay: Overlay | None = None
        self._writer: Writer | None = None
        self._format = request.format
        fps = request.fps or (fps if 0 < fps < math.inf else DEFAULT_FPS)
        is_gif = self._format is ExportFormat.GIF
        max_fps = GIF_MAX_FPS if is_gif else max(MP4_MAX_FPS, fps)
        self.rate = make_output_frame_rate(fps, request.speed, max_fps)
        self.frames = 0

    def add(self, image: "Image.Image", index: int, frames: range) -> None:
        """Add the image of frame `index`, unless the frame rate skips it."""
        if not self.rate.includes(index - frames.start, len(frames)):
            return
        if self._captions is not None:
            self._overlay = self._overlay or Overlay(*image.size)
            image = self._overlay.draw(image, self._captions.get(index))
        try:
            self._write(image)
        except pyav().FFmpegError as error:
            if isinstance(error, OSError):  # of the disk; reported by `write_atomically`
                raise
            raise _encoding_error(image.size, self._format, error) from error
        self.frames += 1

    def _write(self, image: "Image.Image") -> None:
        if self._writer is None:
            writer_class = GifWriter if self._format is ExportFormat.GIF else Mp4Writer
            self._writer = writer_class(self._path, *image.size, self.rate.output)
        self._writer.write(image)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.finish()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()


def _encoding_error(size: tuple[int, int], kind: ExportFormat, error: Exception) -> UserError:
    width, height = size
    return UserError(
        f"Frames of {width} x {height} pixels cannot be encoded as {kind.upper()}: {error}.",
        remedy="Choose another format; JSONL works for every episode.",
        code="C187",
    )


class _FrameNormalizer:
    """Converts frames to images of the size of the first one; others are scaled and padded.

    A frame without pixels repeats the previous image; frames before the first image get that one.
    """

    def __init__(self) -> None:
        self._latest: Image.Image | None = None
        self._pending: list[int] = []
        self._problem = ""

    def to_images(self, frame: ReplayFrame) -> "Iterator[tuple[int, Image.Image]]":
        """Yield the images that can be written now, with the index of their frame."""
        if frame.has_pixels and frame.channels in _IMAGE_MODES:
            self._latest = _fit_image(_to_image(frame), self._latest)
        elif not self._problem:
            self._problem = (
                frame.problem or f"Frames with {frame.channels} channels are not supported."
            )
        self._pending.append(frame.index)
        if self._latest is not None:
            pending, self._pending = self._pending, []
            for index in pending:
                yield index, self._latest

    def check(self) -> None:
        """Raise `UserError` at the end if there was no image at all."""
        if self._latest is None:
            raise UserError(
                f"There are no frames of this episode: {self._problem or 'none were sent.'}",
                remedy="Export it as JSONL instead.",
                code="C182",
            )


def _to_image(frame: ReplayFrame) -> "Image.Image":
    mode = _IMAGE_MODES[frame.channels]
    image: Image.Image = pillow().frombytes(mode, (frame.width, frame.height), frame.pixels)
    return image if mode == "RGB" else image.convert("RGB")


def _fit_image(source: "Image.Image", like: "Image.Image | None") -> "Image.Image":
    if like is None or source.size == like.size:
        return source
    image = pillow()
    scale = min(like.width / source.width, like.height / source.height)
    width = min(like.width, max(1, round(source.width * scale)))
    height = min(like.height, max(1, round(source.height * scale)))
    canvas: Image.Image = image.new("RGB", like.size)
    canvas.paste(
        source.resize((width, height), image.Resampling.LANCZOS),
        ((like.width - width) // 2, (like.height - height) // 2),
    )
    return canvas


@dataclass(frozen=True)
class OutputFrameRate:
    """Frames arrive at rate `source` and are written at rate `output`, which is never higher."""

    source: Fraction
    output: Fraction

    def includes(self, position: int, count: int) -> bool:
        """Return whether frame `position` of `count` is written. The first and last always are."""
        if position in (0, count - 1) or self.source == self.output:
            return True
        share = self.output / self.source
        return int(position * share) > int((position - 1) * share)

    def duration_s(self, frames: int) -> float:
        """Return the duration of that many frames."""
        return float(frames / self.output)


def make_output_frame_rate(fps: float, speed: float, max_fps: float) -> OutputFrameRate:
    """Return the rate for `fps` frames per second at `speed`, limited to `max_fps`."""
    source = _to_fraction(fps) * _to_fraction(speed)
    return OutputFrameRate(source, min(source, _to_fraction(max_fps)))


def _to_fraction(number: float) -> Fraction:
    return max(
        Fraction(number).limit_denominator(_MAX_FPS_DENOMINATOR), Fraction(1, _MAX_FPS_DENOMINATOR)
    )

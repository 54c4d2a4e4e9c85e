"""An episode's pictures into a file: from the simulation through captions to the writer."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic.client.resimulation import FramesDone, SimulatedFrame, SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.export import gif, mp4
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from mosaic.replay.export.export_task import ExportTask
from mosaic.replay.export.media_libraries import pillow, pyav
from mosaic.replay.export.overlay import ActionNames, Captions, Overlay
from mosaic.replay.export.pacing import DEFAULT_FPS, Pace, pace
from mosaic.replay.export.pictures import PictureMaker
from mosaic.replay.replay_frame import ReplayFrame, unpack
from mosaic.replay.simulation import Simulation

if TYPE_CHECKING:
    from PIL import Image

Writer = mp4.Mp4Writer | gif.GifWriter


def write_video(task: ExportTask, path: Path) -> ExportResult:
    """Everything that was asked for, into `path`. Raises `UserError`."""
    pillow(), pyav()  # a missing one is told before anything is simulated
    simulation = task.simulate()
    try:
        with task.cancellation.interrupting(simulation.close):
            return _VideoExport(task, simulation).write(path)
    except UserError:
        task.cancellation.check()
        raise
    finally:
        simulation.close()


class _VideoExport:
    def __init__(self, task: ExportTask, simulation: Simulation) -> None:
        self._task = task
        self._simulation = simulation
        self._checked = SimulationChecked(steps=0, is_over=False)

    def write(self, path: Path) -> ExportResult:
        opened = self._simulation.opened
        request = self._task.request
        steps = request.steps_of(opened.steps)
        frames = range(steps.start, steps.stop + 1)
        film = _Film(path, request, opened.fps, self._captions(steps, opened.steps))
        maker = PictureMaker()
        try:
            for done, frame in enumerate(self._frames(frames), 1):
                for index, picture in maker.pictures_for(frame):
                    film.show(picture, index, frames)
                self._task.on_progress(done, len(frames))
            maker.check()
            film.finish()
        except BaseException:
            film.abandon()
            raise
        return ExportResult(
            path=request.target,
            size_bytes=path.stat().st_size,
            frames=film.pictures,
            duration_s=film.pace.seconds(film.pictures),
            warnings=(*opened.warnings, *self._doubts(steps)),
            first_difference=self._difference_within(steps),
        )

    def _frames(self, frames: range) -> Iterator[ReplayFrame]:
        asked = self._simulation.request_frames(frames.start, len(frames))
        for part in self._simulation:
            self._task.cancellation.check()
            if isinstance(part, SimulatedFrame):
                yield unpack(part)
            elif isinstance(part, SimulationChecked):
                self._checked = part
            elif isinstance(part, FramesDone) and part.request == asked:
                return
        self._task.cancellation.check()
        raise UserError(
            f"The simulation of episode {self._task.episode} ended before all pictures were made.",
            remedy="Try again; the daemon's log under logs/ of the home says more.",
            code="C183",
        )

    def _captions(self, steps: range, steps_of_episode: int) -> Captions | None:
        if not self._task.request.overlay:
            return None
        names = ActionNames(self._task.details().environment_json)
        # From the very first step on, because the return adds up from there.
        return Captions(self._task.steps(0, steps.stop), names, steps_of_episode - 1)

    def _difference_within(self, steps: range) -> int | None:
        difference = self._checked.first_difference
        return difference if difference is not None and difference < steps.stop else None

    def _doubts(self, steps: range) -> tuple[str, ...]:
        difference = self._difference_within(steps)
        if difference is None:
            return ()
        words = f"From step {difference} on the pictures are not those of the recorded episode"
        return (f"{words}: {self._checked.difference}",)


class _Film:
    """The file that is being written; it begins with the first picture, which gives its size."""

    def __init__(
        self, path: Path, request: ExportRequest, fps: float, captions: Captions | None
    ) -> None:
        self._path = path
        self._captions = captions
        self._overlay: Overlay | None = None
        self._writer: Writer | None = None
        self._kind = request.format
        rate = request.fps or (fps if 0 < fps < math.inf else DEFAULT_FPS)
        is_gif = self._kind is ExportFormat.GIF
        most = gif.FASTEST_FPS if is_gif else max(mp4.FASTEST_FPS, rate)
        self.pace: Pace = pace(rate, request.speed, most)
        self.pictures = 0

    def show(self, picture: "Image.Image", index: int, frames: range) -> None:
        """Add the picture of frame `index`, unless the pace leaves it out."""
        if not self.pace.takes(index - frames.start, len(frames)):
            return
        if self._captions is not None:
            self._overlay = self._overlay or Overlay(*picture.size)
            picture = self._overlay.draw(picture, self._captions.of_frame(index))
        try:
            self._write(picture)
        except pyav().FFmpegError as error:
            if isinstance(error, OSError):  # of the disk; `new_file` has the words for it
                raise
            raise _not_encodable(picture.size, self._kind, error) from error
        self.pictures += 1

    def _write(self, picture: "Image.Image") -> None:
        if self._writer is None:
            make = gif.GifWriter if self._kind is ExportFormat.GIF else mp4.Mp4Writer
            self._writer = make(self._path, *picture.size, self.pace.shown)
        self._writer.write(picture)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.finish()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()


def _not_encodable(size: tuple[int, int], kind: ExportFormat, error: Exception) -> UserError:
    width, height = size
    return UserError(
        f"Pictures of {width} x {height} cannot be written as {kind.upper()}: {error}.",
        remedy="Choose another format; JSONL works for every episode.",
        code="C187",
    )

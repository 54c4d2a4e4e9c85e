"""Mp4Writer and GifWriter: write frames into a video file."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mosaic.replay.export.media_libraries import pillow, pyav

if TYPE_CHECKING:
    from PIL import Image

MP4_MAX_FPS = 60.0
"""Most screens show no more; faster playback skips frames."""
GIF_MAX_FPS = 50.0
"""GIF measures time in hundredths of a second, and browsers slow down frames below two of them."""
_H264_OPTIONS = {"crf": "18", "preset": "fast"}
_MAX_RATE_DENOMINATOR = 10_000
_GIF_TICK_S = Fraction(1, 100)


class Mp4Writer:
    """H.264 in MP4. H.264 requires even sizes: odd ones are padded with a black line."""

    def __init__(self, path: Path, width: int, height: int, fps: Fraction) -> None:
        av = pyav()
        self._size = (width + width % 2, height + height % 2)
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        rate = fps.limit_denominator(_MAX_RATE_DENOMINATOR)
        self._stream = self._container.add_stream("h264", rate=rate, options=_H264_OPTIONS)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._time_base = 1 / rate
        self._stream.codec_context.time_base = self._time_base
        self._written = 0

    def write(self, image: "Image.Image") -> None:
        if image.size != self._size:
            canvas = pillow().new("RGB", self._size)
            canvas.paste(image, (0, 0))
            image = canvas
        frame = pyav().VideoFrame.from_image(image)
        frame.pts, frame.time_base = self._written, self._time_base
        self._written += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Flush the encoder and close the file, which is invalid otherwise."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Close the incomplete file, ignoring errors."""
        with suppress(pyav().FFmpegError):
            self._container.close()


class GifWriter:
    """Animated GIF that loops forever, with a palette per frame. Memory: one frame."""

    def __init__(self, path: Path, width: int, height: int, fps: Fraction) -> None:
        av = pyav()
        self._fps = fps
        self._container = av.open(str(path), "w", format="gif", options={"loop": "0"})
        self._stream = self._container.add_stream("gif", rate=round(1 / _GIF_TICK_S))
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "pal8"
        self._stream.codec_context.time_base = _GIF_TICK_S
        self._graph, self._source, self._sink = _palette_graph(av, width, height)
        self._written = 0

    def write(self, image: "Image.Image") -> None:
        frame = pyav().VideoFrame.from_image(image)
        start, end = self._tick(self._written), self._tick(self._written + 1)
        frame.pts, frame.time_base = start, _GIF_TICK_S
        self._written += 1
        self._source.push(frame)
        coloured = self._sink.pull()
        coloured.pts, coloured.time_base = start, _GIF_TICK_S
        for packet in self._stream.encode(coloured):
            packet.duration = end - start
            self._container.mux(packet)

    def finish(self) -> None:
        """Flush the encoder and close the file, which is invalid otherwise."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Close the incomplete file, ignoring errors."""
        with suppress(pyav().FFmpegError):
            self._container.close()

    def _tick(self, frames: int) -> int:
        """Return the time after `frames` frames, rounded in total so that errors do not add up."""
        return round(frames / self._fps / _GIF_TICK_S)


def _palette_graph(av: Any, width: int, height: int) -> tuple[Any, Any, Any]:
    """256 colours per frame, without dithering: environments render few colours."""
    graph = av.filter.Graph()
    source = graph.add(
        "buffer",
        f"video_size={width}x{height}:pix_fmt=rgb24:time_base={_GIF_TICK_S}:pixel_aspect=1/1",
    )
    split = graph.add("split")
    colours = graph.add("palettegen", "stats_mode=single:reserve_transparent=0")
    use = graph.add("paletteuse", "new=1:dither=none")
    sink = graph.add("buffersink")
    source.link_to(split)
    split.link_to(colours, 0, 0)
    split.link_to(use, 1, 0)
    colours.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph, source, sink

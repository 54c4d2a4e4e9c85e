"""GifWriter: pictures into an animated GIF, each with colours of its own."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mosaic.replay.export.media_libraries import pyav

if TYPE_CHECKING:
    from PIL import Image

FASTEST_FPS = 50.0
"""GIF counts in hundredths of a second, and browsers slow down what lasts less than two."""
_TICK = Fraction(1, 100)


class GifWriter:
    """Writes one file, which plays for ever. Only the picture at hand is held in memory."""

    def __init__(self, path: Path, width: int, height: int, fps: Fraction) -> None:
        av = pyav()
        self._fps = fps
        self._container = av.open(str(path), "w", format="gif", options={"loop": "0"})
        self._stream = self._container.add_stream("gif", rate=round(1 / _TICK))
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "pal8"
        self._stream.codec_context.time_base = _TICK
        self._graph, self._source, self._sink = _palette_graph(av, width, height)
        self._written = 0

    def write(self, picture: "Image.Image") -> None:
        frame = pyav().VideoFrame.from_image(picture)
        begins, ends = self._tick(self._written), self._tick(self._written + 1)
        frame.pts, frame.time_base = begins, _TICK
        self._written += 1
        self._source.push(frame)
        coloured = self._sink.pull()
        coloured.pts, coloured.time_base = begins, _TICK
        for packet in self._stream.encode(coloured):
            packet.duration = ends - begins
            self._container.mux(packet)

    def finish(self) -> None:
        """Write what is left. Without it the file is of no use."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Let go of the file, whatever is the matter with it."""
        with suppress(pyav().FFmpegError):
            self._container.close()

    def _tick(self, pictures: int) -> int:
        """When so many have been shown: rounded over the whole, so that no error adds up."""
        return round(pictures / self._fps / _TICK)


def _palette_graph(av: Any, width: int, height: int) -> tuple[Any, Any, Any]:
    """256 colours for each picture, without dithering: what environments draw has few colours."""
    graph = av.filter.Graph()
    source = graph.add(
        "buffer",
        f"video_size={width}x{height}:pix_fmt=rgb24:time_base={_TICK}:pixel_aspect=1/1",
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

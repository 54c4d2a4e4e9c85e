"""Turns what the environment draws into frames for live views.

At most 60 frames a second are drawn, and never fewer than the one that stays to be looked at: when
the session waits, and at the end of an episode. An environment that draws nothing, or something
odd, is mentioned once; grid and text views do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mosaic_worker.errors import WorkerError
from mosaic_worker.pixel_rows import in_rows
from mosaic_worker.play.actor import print_cause
from mosaic_worker.play.pacing import FrameRate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.emitter import Emitter
    from mosaic_worker.frames import FrameMailbox

    Renderer = Callable[[], Any]

NO_PICTURE = "W140"
"""The environment draws no picture that can be shown; the session goes on without."""

BEFORE_FIRST_STEP = -1
"""The step number of a frame that shows how an episode begins."""

_MOST_FAILURES = 3  # in a row: drawing that fails may take long, and leak


class _Moment(NamedTuple):
    """What a frame shows, and the line that tells of it."""

    kind: str
    step: int
    fields: Mapping[str, Any]


class Pictures:
    """The frames of one session. `start` comes before each environment."""

    def __init__(
        self, mailbox: FrameMailbox, emitter: Emitter, rate: FrameRate | None = None
    ) -> None:
        self._mailbox = mailbox
        self._emitter = emitter
        self._rate = rate or FrameRate()
        self._render: Renderer | None = None
        self._failures = 0
        self._is_told = False
        self._waiting: _Moment | None = None
        self._seq = 0

    def start(self, render: Renderer | None) -> None:
        """From now on draw with `render`; None: draw nothing."""
        self._render = render
        self._failures = 0
        self._is_told = False
        self._waiting = None

    def show_beginning(self, fields: Mapping[str, Any], seq: int) -> None:
        """An episode has begun; `fields` are those of its `episode_start` line."""
        self._note(_Moment("episode_start", BEFORE_FIRST_STEP, fields), seq)
        self.flush()

    def show_step(self, fields: Mapping[str, Any], seq: int, *, is_last: bool) -> None:
        """A step was taken; the last one of an episode is always drawn."""
        self._note(_Moment("step", fields["step"], fields), seq)
        if is_last or self._rate.is_due():
            self.flush()

    def flush(self) -> None:
        """Draw the newest moment, unless it has been drawn."""
        moment, self._waiting = self._waiting, None
        if moment is None or self._render is None or self._failures >= _MOST_FAILURES:
            return
        self._rate.take()
        try:
            self._offer(self._render(), moment)
        except WorkerError as error:
            self._failed(error.message)
        except Exception as error:  # noqa: BLE001 - an environment's drawing may raise anything
            print_cause(error)
            self._failed(f"drawing raised {type(error).__name__}: {error}")
        else:
            self._failures = 0

    def close(self) -> None:
        self.flush()
        self._mailbox.close()

    def _note(self, moment: _Moment, seq: int) -> None:
        """A frame carries the `seq` of the newest command that it shows the effect of."""
        self._waiting = moment
        self._seq = max(self._seq, seq)

    def _offer(self, picture: Any, moment: _Moment) -> None:
        height, width, channels = _shape(picture)
        self._mailbox.write(
            in_rows(picture),
            width,
            height,
            channels,
            step=moment.step,
            seq=self._seq,
            step_json=self._line(moment),
        )

    def _line(self, moment: _Moment) -> bytes:
        given = {name: value for name, value in moment.fields.items() if value is not None}
        return self._emitter.encode(moment.kind, **given)

    def _failed(self, problem: str) -> None:
        self._failures += 1
        if not self._is_told:
            self._is_told = True
            self._emitter.log(
                "warning", NO_PICTURE, f"There is no picture of the environment: {problem}"
            )


def _shape(picture: Any) -> tuple[int, int, int]:
    """Height, width and channels of what `rgb_array` should be; WorkerError when it is not."""
    if picture is None:
        raise WorkerError("render() returned nothing.")
    shape, kind = getattr(picture, "shape", None), str(getattr(picture, "dtype", ""))
    if shape is None or kind != "uint8" or len(shape) not in (2, 3):
        what = f"{type(picture).__name__} of shape {shape} and type {kind}" if kind else ""
        raise WorkerError(
            f"render() returned {what or type(picture).__name__}, not height x width x 3 of uint8."
        )
    channels = shape[2] if len(shape) == 3 else 1  # grey ones may lack the axis
    return int(shape[0]), int(shape[1]), int(channels)

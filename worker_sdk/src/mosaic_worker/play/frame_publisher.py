"""FramePublisher: renders the environment and publishes frames for live views.

At most 60 frames per second are rendered; the frame before the session waits and the last frame of
an episode are always rendered. If rendering fails, a warning is logged once, and grid and text
views still work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mosaic_worker.compat import OldFramePublisherNames
from mosaic_worker.errors import WorkerError
from mosaic_worker.frames import make_contiguous
from mosaic_worker.play.actor import print_traceback
from mosaic_worker.play.pacing import FrameLimiter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.emitter import Emitter
    from mosaic_worker.frames import FrameMailbox

    Renderer = Callable[[], Any]

NO_FRAME = "W140"
"""The environment cannot be rendered; the session continues without frames."""

BEFORE_FIRST_STEP = -1
"""The step number of the frame that shows the start of an episode."""

_MAX_FAILURES = 3  # consecutive ones: failing to render may be slow and leak memory


class _RenderedStep(NamedTuple):
    """The step that a frame shows, and the fields of its line."""

    kind: str
    step: int
    fields: Mapping[str, Any]


class FramePublisher(OldFramePublisherNames):
    """The frames of one session. Call `start` for each environment."""

    def __init__(
        self, mailbox: FrameMailbox, emitter: Emitter, limiter: FrameLimiter | None = None
    ) -> None:
        self._mailbox = mailbox
        self._emitter = emitter
        self._limiter = limiter or FrameLimiter()
        self._render: Renderer | None = None
        self._failures = 0
        self._has_warned = False
        self._pending: _RenderedStep | None = None
        self._seq = 0

    def start(self, render: Renderer | None) -> None:
        """Set the `render` function of the environment; None: render nothing."""
        self._render = render
        self._failures = 0
        self._has_warned = False
        self._pending = None

    def show_start(self, fields: Mapping[str, Any], seq: int) -> None:
        """Show the start of an episode; `fields` are those of its `episode_start` line."""
        self._set_pending(_RenderedStep("episode_start", BEFORE_FIRST_STEP, fields), seq)
        self.flush()

    def show_step(self, fields: Mapping[str, Any], seq: int, *, is_last: bool) -> None:
        """Show a step if a frame is due; the last step of an episode is always rendered."""
        self._set_pending(_RenderedStep("step", fields["step"], fields), seq)
        if is_last or self._limiter.is_due():
            self.flush()

    def flush(self) -> None:
        """Render the newest step if it was not rendered yet."""
        step, self._pending = self._pending, None
        if step is None or self._render is None or self._failures >= _MAX_FAILURES:
            return
        self._limiter.consume()
        try:
            self._publish(self._render(), step)
        except WorkerError as error:
            self._log_failure(error.message)
        except Exception as error:  # noqa: BLE001 - third-party code may raise anything
            print_traceback(error)
            self._log_failure(f"render() raised {type(error).__name__}: {error}")
        else:
            self._failures = 0

    def close(self) -> None:
        self.flush()
        self._mailbox.close()

    def _set_pending(self, step: _RenderedStep, seq: int) -> None:
        """A frame carries the `seq` of the newest command whose effect it shows."""
        self._pending = step
        self._seq = max(self._seq, seq)

    def _publish(self, image: Any, step: _RenderedStep) -> None:
        height, width, channels = _image_shape(image)
        self._mailbox.write(
            make_contiguous(image),
            width,
            height,
            channels,
            step=step.step,
            seq=self._seq,
            step_json=self._encode_line(step),
        )

    def _encode_line(self, step: _RenderedStep) -> bytes:
        given = {name: value for name, value in step.fields.items() if value is not None}
        return self._emitter.encode(step.kind, **given)

    def _log_failure(self, problem: str) -> None:
        self._failures += 1
        if not self._has_warned:
            self._has_warned = True
            self._emitter.log("warning", NO_FRAME, f"The environment cannot be rendered: {problem}")


def _image_shape(image: Any) -> tuple[int, int, int]:
    """Height, width and channels of an `rgb_array`. Raises WorkerError for anything else."""
    if image is None:
        raise WorkerError("render() returned None.")
    shape, kind = getattr(image, "shape", None), str(getattr(image, "dtype", ""))
    if shape is None or kind != "uint8" or len(shape) not in (2, 3):
        what = f"{type(image).__name__} of shape {shape} and dtype {kind}" if kind else ""
        raise WorkerError(
            f"render() returned {what or type(image).__name__}; expected uint8, height x width x 3."
        )
    channels = shape[2] if len(shape) == 3 else 1  # grey images may lack this axis
    return int(shape[0]), int(shape[1]), int(channels)

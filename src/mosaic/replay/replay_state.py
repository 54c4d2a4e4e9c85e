"""ReplayState: what is known of a replay at one moment, for whoever draws it."""

import msgspec

from mosaic.contract.errors import UserError

_BROKEN = "C170"
"""A replay ended with a mistake of ours; the log has it as C171."""


class ReplayProblem(msgspec.Struct, kw_only=True, frozen=True):
    """Why there are no more frames, and what to do about it."""

    message: str
    remedy: str = ""
    code: str = ""


class ReplayState(msgspec.Struct, kw_only=True, frozen=True):
    """A snapshot. Frame k is what is seen after k steps, so there is one more than steps."""

    is_open: bool = False
    """The simulation has said how long the episode is."""
    is_closed: bool = False
    steps: int = 0
    fps: float = 0.0
    """How many frames a second the environment is shown at; 0: it does not say."""
    playhead: int = 0
    cached: tuple[range, ...] = ()
    """The frames that are there at once."""
    cached_bytes: int = 0
    checked_steps: int = 0
    """So many steps have been compared with the record."""
    is_checked: bool = False
    """All have been compared, or a difference was found."""
    first_difference: int | None = None
    difference: str = ""
    warnings: tuple[str, ...] = ()
    error: ReplayProblem | None = None

    @property
    def frames(self) -> int:
        return self.steps + 1 if self.is_open else 0


def problem_of(error: Exception) -> ReplayProblem:
    """`error` in words that a person can act on."""
    if isinstance(error, UserError):
        return ReplayProblem(message=error.message, remedy=error.remedy, code=error.code)
    return ReplayProblem(
        message=f"The replay broke: {type(error).__name__}: {error}.",
        remedy="Try again; if it happens again, please report it.",
        code=_BROKEN,
    )

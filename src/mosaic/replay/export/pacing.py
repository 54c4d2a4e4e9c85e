"""How fast pictures follow each other in a file, and which are left out when that is too fast."""

from dataclasses import dataclass
from fractions import Fraction

DEFAULT_FPS = 30.0
"""Of an environment that does not say how fast it is shown."""
_FINEST = 1_000


@dataclass(frozen=True)
class Pace:
    """Pictures arrive at rate `source` and are shown at `shown`, which is never higher."""

    source: Fraction
    shown: Fraction

    def takes(self, position: int, count: int) -> bool:
        """Whether the picture at `position` of `count` is shown. The first and last always are."""
        if position in (0, count - 1) or self.source == self.shown:
            return True
        share = self.shown / self.source
        return int(position * share) > int((position - 1) * share)

    def seconds(self, pictures: int) -> float:
        """How long so many pictures are shown."""
        return float(pictures / self.shown)


def pace(fps: float, speed: float, most: float) -> Pace:
    """`fps` pictures a second, `speed` times as fast, of which at most `most` are shown."""
    source = _fraction(fps) * _fraction(speed)
    return Pace(source, min(source, _fraction(most)))


def _fraction(number: float) -> Fraction:
    return max(Fraction(number).limit_denominator(_FINEST), Fraction(1, _FINEST))

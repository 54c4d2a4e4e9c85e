"""Text that comes from processes, on its way into the registry: reasons, warnings, output.

Unlike a person's words (`annotation_rules`) it is never refused: it is cut and made storable, and
what would make a terminal act is taken out, because a worker's error is shown as it is.
"""

from collections.abc import Iterable, Sequence

from mosaic.trainer.terminal_text import plain_line, plain_text

_LONGEST_SHOWN = 60
_LONGEST_SENTENCE = 2_000
_TAIL_LINES = 50
_LONGEST_LINE = 2_000


def shown(text: str) -> str:
    """`text` from a client as it may stand in a message: short, and nothing a terminal obeys."""
    cut = text[:_LONGEST_SHOWN] + ("…" if len(text) > _LONGEST_SHOWN else "")
    return "".join(letter if letter.isprintable() else "�" for letter in cut)


def storable(text: str, longest: int = _LONGEST_SENTENCE) -> str:
    """`text` without what UTF-8 cannot hold or a terminal obeys, and cut when it is too long."""
    whole = plain_text(text.encode("utf-8", "replace").decode("utf-8"))
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def storable_tail(lines: Sequence[str]) -> tuple[str, ...]:
    """The last lines of a run's output, as many and as much of each as is kept."""
    return tuple(storable(plain_line(line), _LONGEST_LINE) for line in lines[-_TAIL_LINES:])


def storable_all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(storable(text) for text in texts)

"""Lines out of parts of a log that end anywhere, also in the middle of a letter."""

import codecs

_LONGEST = 4 << 20
"""Characters: what goes on without an end is broken here, or each part would cost more than the
one before."""


class LineSplitter:
    """Keeps what is not a whole line yet."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unfinished = ""

    def feed(self, part: bytes) -> list[str]:
        """The lines that are complete now, without their ends."""
        *lines, self._unfinished = (self._unfinished + self._decoder.decode(part)).split("\n")
        while len(self._unfinished) > _LONGEST:
            lines.append(self._unfinished[:_LONGEST])
            self._unfinished = self._unfinished[_LONGEST:]
        return lines

    def rest(self) -> list[str]:
        """What is left at the end of the log."""
        left = self._unfinished + self._decoder.decode(b"", final=True)
        self._unfinished = ""
        return [left] if left else []

"""A log file as clients see it: byte for byte, but for the secrets in it.

Places in it are those of the file, whatever the length of what stands in the place of a secret.
"""

from collections.abc import Callable, Mapping

from mosaic.trainer.secrets.byte_redaction import ByteRedactor
from mosaic.trainer.service.log_follower import LogBlock, LogFollower


class RedactedLog:
    """Follows a log. No part ends inside a secret, so that none passes in two halves."""

    def __init__(self, log: LogFollower, spellings: Callable[[], Mapping[str, str]]) -> None:
        """`spellings` gives the same object again for as long as the secrets are the same."""
        self._log = log
        self._ask_spellings = spellings
        self._spellings = spellings()
        self._redactor = ByteRedactor(self._spellings)
        self._held = b""
        """Read already; the first `_shown` bytes of it need not be shown."""
        self._shown = 0
        self._end: int | None = None
        """Where in the file what was read ends; None before the first part."""

    def close(self) -> None:
        self._log.close()

    def begin_at(self, offset: int) -> None:
        self._log.begin_at(offset)

    def begin_before_end(self, lines: int) -> None:
        self._log.begin_before_end(lines)

    def read(self, *, is_over: bool) -> LogBlock | None:
        """The next part; None at the end. `is_over`: nobody writes to the log any more.

        A last piece with which a secret may begin comes only with what follows it.
        """
        self._follow_secrets()
        while (block := self._log.read()) is not None:
            self._take(block)
            if (part := self._settle(is_all=False)) is not None:
                return part
        return self._settle(is_all=True) if is_over else None

    def _follow_secrets(self) -> None:
        now = self._ask_spellings()
        if now is not self._spellings:
            self._spellings, self._redactor = now, ByteRedactor(now)

    def _take(self, block: LogBlock) -> None:
        start = block.end - len(block.data)
        if start != self._end:  # the first part, or that of another file
            self._held = self._log.bytes_before(start, self._redactor.reach)
            self._shown = len(self._held)
        self._held += block.data
        self._end = block.end

    def _settle(self, *, is_all: bool) -> LogBlock | None:
        if self._end is None or len(self._held) == self._shown:
            return None
        shown, end = self._redactor.redact(self._held, self._shown, is_all=is_all)
        place = self._end - len(self._held) + max(end, self._shown)
        self._held, self._shown = self._held[end:], max(0, self._shown - end)
        return LogBlock(place, shown) if shown else None

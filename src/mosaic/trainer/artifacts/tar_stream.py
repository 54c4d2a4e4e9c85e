"""TarStream: the members of an untrusted tar archive, in order, in bounded memory.

`tarfile` reads extended headers and maps of sparse files completely, whatever their size; a
compressed stream could exhaust the memory that way. Here only its parser of single blocks is used.
"""

import re
import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from mosaic.trainer.artifacts.archive_format import PART_BYTES, ArchiveError

_BLOCK = tarfile.BLOCKSIZE
_MAX_EXTENSION_BYTES = 64 << 10
_MAX_EXTENSIONS = 8
_MAX_TRAILING_BYTES = 1 << 20


def is_file(member: tarfile.TarInfo) -> bool:
    """Whether it is a regular file; unlike for `isreg`, a sparse file is not."""
    return member.type in (tarfile.REGTYPE, tarfile.AREGTYPE)


class TarStream:
    """Reads forward only: unread content of a member is skipped."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._remaining = 0
        self._padding = 0

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        while True:
            for _ in self.content():
                pass
            self._read_exactly(self._padding)
            member = self._next_member()
            if member is None:
                self._read_to_end()
                return
            yield member

    def content(self) -> Iterator[bytes]:
        """The rest of the current member."""
        while self._remaining:
            block = self._read_exactly(min(PART_BYTES, self._remaining))
            self._remaining -= len(block)
            yield block

    def read_document(self, name: str, max_bytes: int) -> bytes:
        """The complete content of the current member."""
        if self._remaining > max_bytes:
            raise ArchiveError(f"{name} is larger than {max_bytes >> 20} MiB.")
        return b"".join(self.content())

    def _next_member(self) -> tarfile.TarInfo | None:
        """None at the end of the archive."""
        renamed: str | None = None
        resized: int | None = None
        for _ in range(_MAX_EXTENSIONS):
            block = self._read_exactly(_BLOCK)
            if not block.strip(b"\0"):
                return None
            try:
                member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            except tarfile.HeaderError as error:
                raise ArchiveError(f"It is not a tar archive, or damaged: {error}.") from error
            if member.size < 0:
                raise ArchiveError(f"The member {member.name[:200]!r} has a size below zero.")
            if member.type == tarfile.XHDTYPE:
                fields = _pax_fields(self._extension(member))
                renamed = fields.get("path", renamed)
                resized = _size(fields.get("size", "")) or resized
            elif member.type == tarfile.GNUTYPE_LONGNAME:
                renamed = self._extension(member).rstrip(b"\0").decode(errors="surrogateescape")
            elif member.type == tarfile.XGLTYPE:
                self._extension(member)
            else:
                member.name = member.name if renamed is None else renamed
                member.size = member.size if resized is None else resized
                self._remaining = member.size if is_file(member) else 0
                self._padding = -self._remaining % _BLOCK
                return member
        raise ArchiveError("A member has too many extended headers.")

    def _extension(self, member: tarfile.TarInfo) -> bytes:
        if member.size > _MAX_EXTENSION_BYTES:
            raise ArchiveError("A member's extended header is too large.")
        content = self._read_exactly(member.size + -member.size % _BLOCK)
        return content[: member.size]

    def _read_exactly(self, size: int) -> bytes:
        data = self._source.read(size) if size else b""
        if len(data) < size:
            raise EOFError
        return data

    def _read_to_end(self) -> None:
        """A compressed stream is verified only at its end."""
        for _ in range(0, _MAX_TRAILING_BYTES, PART_BYTES):
            rest = self._source.read(PART_BYTES)
            if not rest:
                return
            if rest.strip(b"\0"):
                break
        raise ArchiveError("There is data after its end.")


def _size(text: str) -> int:
    """The number; 0 when it is not a valid file size."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0


def _pax_fields(content: bytes) -> dict[str, str]:
    """Records of the form `length name=value`, each terminated by a newline."""
    fields: dict[str, str] = {}
    while content:
        length, space, _ = content.partition(b" ")
        if not space or not length.isdigit() or len(length) > len(str(_MAX_EXTENSION_BYTES)):
            raise ArchiveError("A member's extended header is damaged.")
        record, content = content[len(length) + 1 : int(length)], content[int(length) or 1 :]
        name, _, value = record.rstrip(b"\n").partition(b"=")
        fields[name.decode(errors="replace")] = value.decode(errors="surrogateescape")
    return fields

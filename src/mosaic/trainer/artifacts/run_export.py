"""Exporting a run as an archive, in parts and in constant memory."""

import hashlib
import logging
import tarfile
import time
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator
from itertools import count

import msgspec

from mosaic import __version__
from mosaic.contract.layout import RunDirectory
from mosaic.contract.runs import RunRecord
from mosaic.trainer.artifacts.archive_format import (
    FORMAT,
    HEADER,
    PART_BYTES,
    SUMS,
    ArchiveError,
    ArchiveHeader,
    ArchiveSums,
    FileSum,
)
from mosaic.trainer.artifacts.archive_source import PackedFile, open_packed, packed_files

_SHORTEST = 6  # a shorter text would match what is not a secret


class SecretMask:
    """Overwrites secrets in bytes with asterisks of the same length: sizes do not change."""

    def __init__(self, secrets: Collection[str]) -> None:
        """`secrets`: every spelling to overwrite."""
        encoded = (secret.encode("utf-8", "surrogateescape") for secret in secrets)
        self._secrets = sorted({secret for secret in encoded if len(secret) >= _SHORTEST}, key=len)[
            ::-1
        ]
        self._overlap = len(self._secrets[0]) - 1 if self._secrets else 0

    @property
    def is_empty(self) -> bool:
        return not self._secrets

    def mask(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, b"*" * len(secret))
        return data

    def occurs_in(self, blocks: Iterable[bytes]) -> bool:
        """Whether a secret is in the blocks, or spans two of them."""
        held = b""
        for block in blocks if self._secrets else ():
            data = held + block
            if any(secret in data for secret in self._secrets):
                return True
            held = data[max(0, len(data) - self._overlap) :]
        return False

    def stream(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks without secrets, including secrets that span two of them."""
        if not self._secrets:
            yield from blocks
            return
        held = b""
        for block in blocks:
            data = self.mask(held + block)
            safe_length = max(0, len(data) - self._overlap)
            held = data[safe_length:]
            yield data[:safe_length]
        yield held


_log = logging.getLogger(__name__)

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1  # the store is compressed already; the spool shrinks to a tenth at this level too


def export_run(
    run: RunDirectory, record: RunRecord | None = None, secrets: Collection[str] = ()
) -> Generator[bytes, None, None]:
    """The archive in parts of at most 256 KiB. Close it when it is not read to its end.

    A live run is exported in its current state. `record` goes into the header, so that name, tags,
    note, state and times are preserved. `secrets`, in each of their spellings, are overwritten in
    plain text; a store that contains them is omitted, and rebuilt at the import. Blocking.
    """
    if not run.config.is_file():
        raise ArchiveError(
            f"Run {run.run_id} has no files to export.",
            remedy="A run has files once it was started; `mosaic runs show` shows its state.",
        )
    yield from _split(_compress(_tar(run, record, SecretMask(secrets))))


def _tar(run: RunDirectory, record: RunRecord | None, mask: SecretMask) -> Iterator[bytes]:
    with packed_files(run) as packed:
        files = _exportable(run, packed, mask)
        now = time.time()
        header = ArchiveHeader(
            format=FORMAT,
            run_id=run.run_id,
            mosaic=__version__,
            exported_at=now,
            files=len(files),
            bytes=sum(file.size for file in files),
            record=record,
        )
        yield from _member(HEADER, mask.mask(_document(header)), now)
        sums: list[FileSum] = []
        for file in files:
            yield from _archive_file(run, file, mask, sums)
        yield from _member(SUMS, _document(ArchiveSums(files=tuple(sums))), now)
        yield bytes(2 * tarfile.BLOCKSIZE)


def _exportable(run: RunDirectory, files: list[PackedFile], mask: SecretMask) -> list[PackedFile]:
    """Without the files derived from a spool with a secret, where it is compressed or encoded.

    The import rebuilds them from the spool, which is masked.
    """
    if mask.is_empty or _is_free_of_secrets(run, files, mask):
        return files
    _log.info("T357 not exported: the store of run %s, which contains a secret", run.run_id)
    derived = (run.store.name, run.rejects.name)
    return [file for file in files if file.path not in derived]


def _is_free_of_secrets(run: RunDirectory, files: list[PackedFile], mask: SecretMask) -> bool:
    """Whether the spool has no secrets; False when it cannot be read."""
    spool = next((file for file in files if file.path == run.spool.name), None)
    try:
        return spool is not None and not mask.occurs_in(open_packed(run, spool))
    except OSError:
        return False


def _archive_file(
    run: RunDirectory, file: PackedFile, mask: SecretMask, sums: list[FileSum]
) -> Iterator[bytes]:
    try:
        blocks = open_packed(run, file)
    except OSError as error:
        _log.info(
            "T369 not exported: %s was removed during the export of run %s: %s",
            file.path,
            run.run_id,
            error,
        )
        return
    digest = hashlib.sha256()
    path = _masked_path(file.path, mask, sums)
    yield _tar_header(f"{run.run_id}/{path}", file.size, file.mtime)
    for block in mask.stream(blocks):
        digest.update(block)
        yield block
    yield _padding(file.size)
    sums.append(FileSum(path=path, size=file.size, sha256=digest.hexdigest()))


def _masked_path(path: str, mask: SecretMask, earlier: Iterable[FileSum]) -> str:
    """The path without secrets; it gets a number if another file has that name by now."""
    masked = mask.mask(path.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    if masked == path:
        return path
    taken = {file.path for file in earlier}
    for number in count(1):
        name = masked if number == 1 else f"{masked}-{number}"
        if name not in taken:
            return name
    raise AssertionError("`count` has no end")


def _member(name: str, content: bytes, now: float) -> Iterator[bytes]:
    yield _tar_header(name, len(content), int(now))
    yield content
    yield _padding(len(content))


def _document(value: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _tar_header(name: str, size: int, mtime: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, mtime, 0o600
    return member.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def _compress(blocks: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in parts of `PART_BYTES`; only the last one is smaller."""
    gathered = bytearray()
    for block in blocks:
        gathered += block
        while len(gathered) >= PART_BYTES:
            yield bytes(gathered[:PART_BYTES])
            del gathered[:PART_BYTES]
    if gathered:
        yield bytes(gathered)

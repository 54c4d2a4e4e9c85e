"""Writes a run as an archive, part by part, in memory that does not grow with the run."""

import hashlib
import logging
import tarfile
import time
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator

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

_SHORTEST = 6  # a shorter text would be found where it is no secret


class SecretMask:
    """Each secret becomes asterisks of the same length: sizes and places stay as they are."""

    def __init__(self, secrets: Collection[str]) -> None:
        """`secrets`: every spelling that must not be seen."""
        encoded = (secret.encode("utf-8", "surrogateescape") for secret in secrets)
        self._secrets = sorted({each for each in encoded if len(each) >= _SHORTEST}, key=len)[::-1]
        self._overlap = len(self._secrets[0]) - 1 if self._secrets else 0

    @property
    def is_empty(self) -> bool:
        return not self._secrets

    def text(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, b"*" * len(secret))
        return data

    def occurs_in(self, blocks: Iterable[bytes]) -> bool:
        """Whether a secret is in the blocks, or lies across two of them."""
        held = b""
        for block in blocks if self._secrets else ():
            data = held + block
            if any(secret in data for secret in self._secrets):
                return True
            held = data[max(0, len(data) - self._overlap) :]
        return False

    def stream(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks, a secret that lies across two of them included."""
        if not self._secrets:
            yield from blocks
            return
        held = b""
        for block in blocks:
            data = self.text(held + block)
            settled = max(0, len(data) - self._overlap)
            held = data[settled:]
            yield data[:settled]
        yield held


_log = logging.getLogger(__name__)

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1  # the store is compressed already; the spool shrinks to a tenth at this level too


def export_run(
    run: RunDirectory, record: RunRecord | None = None, secrets: Collection[str] = ()
) -> Generator[bytes, None, None]:
    """The archive in parts of at most 256 KiB. Close it when it is not read to its end.

    A live run is exported as it is now. `record` goes into the header, so that name, tags, note,
    state and times survive. `secrets`, in each of their spellings, are overwritten wherever they
    stand as plain text; a store that was made of them stays out, and is made again. Blocking.
    """
    if not run.config.is_file():
        raise ArchiveError(
            f"Run {run.run_id} has no files to export.",
            remedy="A run has files once it was started; `mosaic runs show` tells its state.",
        )
    yield from _in_parts(_compressed(_tar(run, record, SecretMask(secrets))))


def _tar(run: RunDirectory, record: RunRecord | None, mask: SecretMask) -> Iterator[bytes]:
    with packed_files(run) as found:
        files = _exportable(run, found, mask)
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
        yield from _member(HEADER, mask.text(_document(header)), now)
        sums: list[FileSum] = []
        for file in files:
            yield from _packed(run, file, mask, sums)
        yield from _member(SUMS, _document(ArchiveSums(files=tuple(sums))), now)
        yield bytes(2 * tarfile.BLOCKSIZE)


def _exportable(run: RunDirectory, files: list[PackedFile], mask: SecretMask) -> list[PackedFile]:
    """Not what a spool with a secret in it was made into: there it is compressed or encoded.

    Whoever imports the run makes both again from the spool, which is masked.
    """
    if mask.is_empty or _is_free_of_secrets(run, files, mask):
        return files
    _log.info("T357 not exported: the store of run %s, of which a secret is part", run.run_id)
    made_of_it = (run.store.name, run.rejects.name)
    return [file for file in files if file.path not in made_of_it]


def _is_free_of_secrets(run: RunDirectory, files: list[PackedFile], mask: SecretMask) -> bool:
    """Whether the spool is; of one that cannot be read nobody knows."""
    spool = next((file for file in files if file.path == run.spool.name), None)
    try:
        return spool is not None and not mask.occurs_in(open_packed(run, spool))
    except OSError:
        return False


def _packed(
    run: RunDirectory, file: PackedFile, mask: SecretMask, sums: list[FileSum]
) -> Iterator[bytes]:
    try:
        blocks = open_packed(run, file)
    except OSError as error:
        _log.info("T369 not exported: %s went while run %s was: %s", file.path, run.run_id, error)
        return
    digest = hashlib.sha256()
    yield _tar_header(f"{run.run_id}/{file.path}", file.size, file.mtime)
    for block in mask.stream(blocks):
        digest.update(block)
        yield block
    yield _padding(file.size)
    sums.append(FileSum(path=file.path, size=file.size, sha256=digest.hexdigest()))


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


def _compressed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


def _in_parts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in parts of the agreed size; only the last one is smaller."""
    gathered = bytearray()
    for block in blocks:
        gathered += block
        while len(gathered) >= PART_BYTES:
            yield bytes(gathered[:PART_BYTES])
            del gathered[:PART_BYTES]
    if gathered:
        yield bytes(gathered)

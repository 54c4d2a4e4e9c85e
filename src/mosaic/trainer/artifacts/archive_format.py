"""The format of a run's archive: a `.tar.gz` that `run_export` writes and `run_import` reads.

    mosaic-run.json       first: format, run id and total size
    <run id>/config.json  and all other files of the run's directory
    mosaic-sums.json      last: size and SHA-256 of every file; without it the archive is truncated

It contains regular files only: no links, no devices, and no files of live processes.
"""

import re
from fnmatch import fnmatchcase

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.json_value import INT64_MAX
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.runs import RunRecord
from mosaic.contract.secret_detection import is_secret_name
from mosaic.trainer.artifacts.run_tree import is_valid_path

FORMAT = 1
HEADER = "mosaic-run.json"
SUMS = "mosaic-sums.json"
PART_BYTES = 256 << 10
MAX_MEMBERS = 200_000
MAX_BYTES = 100 << 30
MAX_HEADER_BYTES = 1 << 20
MAX_SUMS_BYTES = 64 << 20
MIN_FREE_BYTES = 64 << 20
"""Must stay free on the disk, so that live runs can write."""

MAX_DEPTH = 64
_MAX_NAME_BYTES = 255
_PROCESS_FILES = frozenset({"control", "frames", "supervisor.lock"})
_DERIVED_FILES = frozenset({"telemetry.db", "rejects.jsonl"})
_WRITTEN_BY_IMPORT = frozenset({"imported.json", "annotations.json"})
"""An archive has none of these, and those in an archive are ignored: its header has the record."""
_TEMPORARY = ("*.tmp", "*.part", "*.partial", "*.swp", "*~", ".partial-*", ".frames-*")
# Documents are replaced by renaming `.<name>.<eight letters>`.
_UNFINISHED_DOCUMENT = re.compile(r"\.[a-z]+\.json\.\w{8}")
_DATABASE_FILES = ("*-wal", "*-shm", "*-journal")
_SECRETS = (
    ".env",
    "*.env",
    ".env.*",
    "*.pem",
    "*.key",
    ".netrc",
    "_netrc",
    "id_rsa*",
    "id_ed25519*",
)


class ArchiveError(UserError):
    """An archive of a run is invalid; the message names the part and the reason."""

    default_code = "T362"

    def __init__(
        self, message: str, *, remedy: str = "Export the run again, and import that."
    ) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class RunDirectoryExistsError(UserError):
    """A directory of a run with this id already exists."""

    default_code = "T363"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} already exists.",
            remedy=f"Delete it first (`mosaic runs delete {run_id}`), or keep it.",
            code=self.default_code,
        )


class NoRoomError(UserError):
    """The disk has not enough free space."""

    default_code = "T364"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The disk has not enough free space for {what}.",
            remedy="Free some space (`mosaic runs delete`), or use a home on another disk.",
            code=self.default_code,
        )


class ArchiveHeader(msgspec.Struct, kw_only=True, frozen=True):
    """`mosaic-run.json`."""

    format: int
    run_id: str
    mosaic: str
    """The version of MOSAIC that wrote it."""
    exported_at: float
    files: int
    bytes: int
    """Total size of the files; an upper bound of what follows."""
    record: RunRecord | None = None
    """The run's record in the registry: name, tags, note, state and reason, times."""

    def check(self) -> None:
        """Raise `ArchiveError` when the header is invalid."""
        if not is_ulid(self.run_id):
            raise ArchiveError(
                f"{HEADER} names the run {self.run_id[:60]!r}, which is not a run id."
            )
        if self.record is not None and self.record.run_id != self.run_id:
            raise ArchiveError(f"{HEADER} has the record of another run than {self.run_id}.")
        if not (0 <= self.files <= MAX_MEMBERS and 0 <= self.bytes <= INT64_MAX):
            raise ArchiveError(
                f"{HEADER} lists {self.files} files of {self.bytes} bytes, which is out of range.",
            )


class FileSum(msgspec.Struct, kw_only=True, frozen=True):
    """Size and hash of an archived file."""

    path: str
    size: int
    sha256: str


class ArchiveSums(msgspec.Struct, kw_only=True, frozen=True):
    """`mosaic-sums.json`."""

    files: tuple[FileSum, ...]


def is_packable(path: str) -> bool:
    """Whether an archive may contain a file of this path in the run's directory."""
    parts = path.split("/")
    return (
        is_valid_path(path)
        and len(parts) <= MAX_DEPTH
        and all(part not in ("", ".") for part in parts)
        and all(len(part.encode()) <= _MAX_NAME_BYTES for part in parts)
    )


def is_derived(path: str) -> bool:
    """Whether the file is built from the spool. Never taken from an archive, but built again."""
    return path in _DERIVED_FILES


def is_excluded(path: str) -> bool:
    """Whether the file belongs to live processes, is unfinished, or may contain a secret."""
    name = path.rpartition("/")[2]
    return (
        path in _PROCESS_FILES
        or path in _WRITTEN_BY_IMPORT
        or any(fnmatchcase(name, pattern) for pattern in (*_TEMPORARY, *_DATABASE_FILES, *_SECRETS))
        or _UNFINISHED_DOCUMENT.fullmatch(name) is not None
        or is_secret_name(name.partition(".")[0])
    )


prebuild_decoders(ArchiveHeader, ArchiveSums)

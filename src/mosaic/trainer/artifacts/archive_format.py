"""What an archive of a run is: a `.tar.gz` that `run_archive` writes and reads.

    mosaic-run.json       first: what this is, and how much follows
    <run id>/config.json  and all other files of the run's directory
    mosaic-sums.json      last: size and SHA-256 of every file; without it the archive is cut off

Only ordinary files are in it: no links, no devices, and nothing that belongs to living processes.
"""

import re
from fnmatch import fnmatchcase

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.json_value import INT64_MAX
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.runs import RunRecord
from mosaic.contract.secret_names import is_secret_name
from mosaic.trainer.artifacts.run_tree import is_presentable

FORMAT = 1
HEADER = "mosaic-run.json"
SUMS = "mosaic-sums.json"
PART_BYTES = 256 << 10
MOST_MEMBERS = 200_000
MOST_BYTES = 100 << 30
MOST_HEADER_BYTES = 1 << 20
MOST_SUMS_BYTES = 64 << 20
FREE_BYTES_KEPT = 64 << 20
"""Stay free on the disk, so that runs which are live go on writing."""

DEEPEST = 64
_LONGEST_NAME_BYTES = 255
_OF_PROCESSES = frozenset({"control", "frames", "supervisor.lock"})
_TEMPORARY = ("*.tmp", "*.part", "*.partial", "*.swp", "*~", ".partial-*", ".frames-*")
# Documents are replaced by renaming `.<name>.<eight letters>`.
_UNFINISHED_DOCUMENT = re.compile(r"\.[a-z]+\.json\.\w{8}")
_OF_DATABASES = ("*-wal", "*-shm", "*-journal")
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
    """An archive of a run cannot be used; the message says which part of it, and why."""

    default_code = "T362"

    def __init__(
        self, message: str, *, remedy: str = "Export the run again, and import that."
    ) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class RunExistsError(UserError):
    """A run of this id is there already."""

    default_code = "T363"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} is here already.",
            remedy=f"Delete it first (`mosaic runs delete {run_id}`), or keep it.",
            code=self.default_code,
        )


class NoRoomError(UserError):
    """The disk has no room for an archive, or for what is in it."""

    default_code = "T364"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The disk has no room for {what}.",
            remedy="Free some space (`mosaic runs delete`), or use a home on another disk.",
            code=self.default_code,
        )


class ArchiveHeader(msgspec.Struct, kw_only=True, frozen=True):
    """`mosaic-run.json`."""

    format: int
    run_id: str
    mosaic: str
    """The version that wrote it."""
    exported_at: float
    files: int
    bytes: int
    """What the files take, all together; never less than what follows."""
    record: RunRecord | None = None
    """What the daemon knew of the run: name, tags, note, state and its reason, times."""

    def check(self) -> None:
        """Raises `ArchiveError` when the header makes no sense."""
        if not is_ulid(self.run_id):
            raise ArchiveError(f"{HEADER} names the run {self.run_id[:60]!r}, which is no run id.")
        if self.record is not None and self.record.run_id != self.run_id:
            raise ArchiveError(f"{HEADER} has the record of another run than {self.run_id}.")
        if not (0 <= self.files <= MOST_MEMBERS and 0 <= self.bytes <= INT64_MAX):
            raise ArchiveError(
                f"{HEADER} tells of {self.files} files of {self.bytes} bytes, which cannot be.",
            )


class FileSum(msgspec.Struct, kw_only=True, frozen=True):
    """A file as it was packed."""

    path: str
    size: int
    sha256: str


class ArchiveSums(msgspec.Struct, kw_only=True, frozen=True):
    """`mosaic-sums.json`."""

    files: tuple[FileSum, ...]


def is_packable(path: str) -> bool:
    """Whether a file of this path in the run's directory has a place in an archive."""
    parts = path.split("/")
    return (
        is_presentable(path)
        and len(parts) <= DEEPEST
        and all(part not in ("", ".") for part in parts)
        and all(len(part.encode()) <= _LONGEST_NAME_BYTES for part in parts)
    )


def is_left_out(path: str) -> bool:
    """Whether the file belongs to living processes, is unfinished, or may hold a secret."""
    name = path.rpartition("/")[2]
    return (
        path in _OF_PROCESSES
        or any(fnmatchcase(name, pattern) for pattern in (*_TEMPORARY, *_OF_DATABASES, *_SECRETS))
        or _UNFINISHED_DOCUMENT.fullmatch(name) is not None
        or is_secret_name(name.partition(".")[0])
    )


prebuild_decoders(ArchiveHeader, ArchiveSums)

"""An invalid archive is rejected with a reason and leaves no files."""

import gzip
import hashlib
import io
import json
import random
import tarfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.artifacts import run_import
from mosaic.trainer.artifacts.archive_format import ArchiveError
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import import_run
from mosaic.trainer.artifacts.run_removal import delete_run
from tests.trainer.artifacts.conftest import CONFIG

RUN_ID = "01J00000000000000000000000"
Member = tuple[str | tarfile.TarInfo, bytes]


def header(**changes: Any) -> Member:
    fields = {"format": 1, "run_id": RUN_ID, "mosaic": "0.1.0", "exported_at": 1.7e9}
    document = {**fields, "files": 100, "bytes": 1_000_000, **changes}
    return "mosaic-run.json", json.dumps(document).encode()


def config(content: bytes = json.dumps(CONFIG).encode()) -> Member:
    return f"{RUN_ID}/config.json", content


def sums(*members: Member) -> Member:
    files = [
        {
            "path": name.partition("/")[2],
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in members
        if isinstance(name, str)
    ]
    return "mosaic-sums.json", json.dumps({"files": files}).encode()


def tar(*members: Member, format: int = tarfile.PAX_FORMAT) -> bytes:  # noqa: A002 - tarfile's name
    """Return the uncompressed archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=format) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            if isinstance(name, str):
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def archive_with(*members: Member) -> bytes:
    """Return an otherwise valid archive with additional members."""
    return gzip.compress(tar(header(), config(), *members, sums(config(), *members)))


def special(name: str, kind: bytes, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


@pytest.fixture
def import_error(home: Home, tmp_path: Path) -> Callable[..., str]:
    """Import an archive that must be rejected and return the error message."""

    def import_rejected(data: bytes, **limits: int) -> str:
        with pytest.raises(ArchiveError) as caught:
            import_run(home, iter([data]), **limits)
        assert caught.value.remedy
        assert list(home.runs.iterdir()) == []
        assert {path.name for path in tmp_path.iterdir()} == {"var"}
        return caught.value.message

    return import_rejected


def test_a_valid_archive_is_imported(home: Home) -> None:
    """The archive that the other tests modify is valid."""
    data = archive_with((f"{RUN_ID}/a/b.txt", b"abc"))
    assert import_run(home, iter([data])).run_id == RUN_ID
    assert (home.run(RUN_ID).path / "a/b.txt").read_bytes() == b"abc"


def test_archives_of_other_programs(home: Home) -> None:
    """Folders, GNU long names and non-ASCII file names are supported."""
    long_name = f"{RUN_ID}/{'deep/' * 30}ü {'x' * 150}.txt"
    members = [config(), (long_name, b"long")]
    folder = special(f"{RUN_ID}/", tarfile.DIRTYPE)
    data = tar(header(), folder, *members, sums(*members), format=tarfile.GNU_FORMAT)
    import_run(home, iter([gzip.compress(data)]))
    assert (home.runs / long_name).read_bytes() == b"long"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        f"/{RUN_ID}/a",
        f"{RUN_ID}/../../../escaped",
        f"{RUN_ID}/../escaped",
        f"{RUN_ID}/a/../../escaped",
        f"{RUN_ID}//etc/passwd",
        f"{RUN_ID}/",
        f"{RUN_ID}/.",
        f"{RUN_ID}/./a",
        f"{RUN_ID}/a//b",
        f"{RUN_ID}/..",
        f"{RUN_ID}/a\\..\\b",
        f"{RUN_ID}/C:/x",
        f"{RUN_ID}/a\nb",
        f"{RUN_ID}/\x1b[31m",
        f"{RUN_ID}/\udcff",
        f"{RUN_ID}/{'x' * 300}",
        f"{RUN_ID}/{'d/' * 100}x",
        f"{RUN_ID}/{'long/' * 1000}x",
        "01J11111111111111111111111/a",
        "escaped",
        "..",
        "",
    ],
)
def test_names_outside_of_the_run(import_error: Callable[..., str], name: str) -> None:
    """No member is written outside of the run directory."""
    info = tarfile.TarInfo(name)
    data = tar(header(), config(), (info, b""), sums(config()), format=tarfile.PAX_FORMAT)
    assert "is not a file name" in import_error(gzip.compress(data))


@pytest.mark.parametrize(
    ("kind", "link"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.SYMTYPE, "config.json"),
        (tarfile.LNKTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, f"{RUN_ID}/config.json"),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.FIFOTYPE, ""),
        (tarfile.CONTTYPE, ""),
        (tarfile.GNUTYPE_SPARSE, ""),
        (b"?", ""),
    ],
)
def test_links_and_devices(import_error: Callable[..., str], kind: bytes, link: str) -> None:
    """Only regular files are unpacked; the error names the member."""
    message = import_error(archive_with(special(f"{RUN_ID}/telemetry.jsonl", kind, link)))
    assert "telemetry.jsonl" in message
    assert "not a file" in message


def test_a_file_below_a_link(import_error: Callable[..., str], tmp_path: Path) -> None:
    """A member cannot be written through a link of the same archive."""
    link = special(f"{RUN_ID}/checkpoints", tarfile.SYMTYPE, str(tmp_path))
    import_error(archive_with(link, (f"{RUN_ID}/checkpoints/escaped", b"x")))


def test_conflicting_names(import_error: Callable[..., str]) -> None:
    """Duplicate names, and names of both a file and a folder, are rejected."""
    duplicate = (f"{RUN_ID}/a", b"1")
    assert "twice" in import_error(archive_with(duplicate, duplicate))
    for members in (("a", "a/b"), ("a/b", "a")):
        pair = [(f"{RUN_ID}/{name}", b"1") for name in members]
        assert "file and a folder" in import_error(archive_with(*pair))


def test_more_content_than_the_header_lists(import_error: Callable[..., str]) -> None:
    """The sizes in the header are enforced, because the disk space check relies on them."""
    big = (f"{RUN_ID}/big", bytes(5000))
    members = (config(), big)
    for change in ({"bytes": 4000}, {"files": 1}):
        data = gzip.compress(tar(header(**change), *members, sums(*members)))
        assert "more than mosaic-run.json lists" in import_error(data)
    data = gzip.compress(tar(header(bytes=10**15), *members, sums(*members)))
    assert "are allowed" in import_error(data)
    assert "are allowed" in import_error(archive_with(big), max_bytes=1000)


def test_a_decompression_bomb_is_rejected(import_error: Callable[..., str]) -> None:
    """Unpacking stops at the size in the header."""
    info = tarfile.TarInfo(f"{RUN_ID}/bomb")
    info.size = 1 << 42
    data = tar(header(), config()).rstrip(b"\0")
    data += bytes(-len(data) % 512) + info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)
    assert "more than mosaic-run.json lists" in import_error(gzip.compress(data))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_endless_extended_header(import_error: Callable[..., str], kind: bytes) -> None:
    """Neither a header of several gigabytes nor a long chain of headers is read into memory."""
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 4 << 30
    start = tar(header())[:1024]
    block = info.tobuf(tarfile.GNU_FORMAT)
    assert "extended header" in import_error(gzip.compress(start + block + bytes(1 << 20)))
    info.size = 0
    chain = info.tobuf(tarfile.GNU_FORMAT) * 10_000
    assert "extended headers" in import_error(gzip.compress(start + chain))


@pytest.mark.parametrize(
    "content", [b"x", b"99999999999999 path=x\n", b"-5 path=x\n", b"0 a=b\n", b" "]
)
def test_an_invalid_extended_header(import_error: Callable[..., str], content: bytes) -> None:
    """It is rejected and does not cause an endless loop."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(content)
    data = tar(header())[:1024] + info.tobuf(tarfile.USTAR_FORMAT) + content.ljust(512, b"\0")
    import_error(gzip.compress(data + tar(config())))


def test_too_many_members(
    import_error: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders count as members, too."""
    monkeypatch.setattr(run_import, "MAX_MEMBERS", 50)
    folders = [special(f"{RUN_ID}/{number}", tarfile.DIRTYPE) for number in range(60)]
    assert "more than 50 members" in import_error(archive_with(*folders))


def test_truncated_at_any_position(full_run: RunDirectory, tmp_path: Path) -> None:
    """A truncated archive is rejected, wherever it ends."""
    data = b"".join(export_run(full_run))
    other_home = Home(tmp_path / "other_home")
    ends = {0, 1, 10, len(data) // 2, len(data) - 9, len(data) - 8, len(data) - 1}
    for end in ends | set(range(1000, len(data), len(data) // 20)):
        with pytest.raises(ArchiveError, match="T362"):
            import_run(other_home, iter([data[:end]]))
        assert list(other_home.runs.iterdir()) == []


def test_truncated_between_members(import_error: Callable[..., str]) -> None:
    """A complete gzip file with an incomplete archive is detected."""
    assert "truncated" in import_error(gzip.compress(tar(header(), config())))
    complete = tar(header(), config(), (f"{RUN_ID}/a", bytes(2000)))
    assert "truncated" in import_error(gzip.compress(complete[:4000]))


def test_changed_bytes(full_run: RunDirectory, tmp_path: Path) -> None:
    """A changed bit is detected unless the decompressed content is the same."""
    data = b"".join(export_run(full_run))
    other_home = Home(tmp_path / "other_home")
    rng = random.Random(1)
    for _ in range(60):
        damaged = bytearray(data)
        damaged[rng.randrange(10, len(data))] ^= 1 << rng.randrange(8)
        try:
            import_run(other_home, iter([bytes(damaged)]))
        except ArchiveError:
            assert list(other_home.runs.iterdir()) == []
        else:
            assert gzip.decompress(damaged) == gzip.decompress(data)
            delete_run(other_home, full_run.run_id)


def test_files_that_do_not_match_the_checksums(import_error: Callable[..., str]) -> None:
    """A file that was replaced, added or removed after the export is detected."""
    listed = (f"{RUN_ID}/a", b"listed")
    for members in ([], [(f"{RUN_ID}/a", b"change")], [listed, (f"{RUN_ID}/b", b"")]):
        data = gzip.compress(tar(header(), config(), *members, sums(config(), listed)))
        assert "mosaic-sums.json" in import_error(data)
    data = gzip.compress(tar(header(), config(), sums(config()), listed))
    assert "which must be last" in import_error(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello, this is not an archive",
        b"\x1f\x8b",
        b"\x1f\x8b\x08\0\0\0\0\0\0\3garbage",
        gzip.compress(b""),
        gzip.compress(b"not a tar file" * 100),
        gzip.compress(bytes(10_240)),
        gzip.compress(tar(config())),
        gzip.compress(tar(("mosaic-run.json", b"{"))),
        gzip.compress(tar(("mosaic-run.json", b"[" * 100_000))),
        gzip.compress(tar(("mosaic-run.json", b"\xff"))),
        gzip.compress(tar(("mosaic-run.json", b" " * (2 << 20)))),
        gzip.compress(tar(special("mosaic-run.json", tarfile.SYMTYPE, "/etc/passwd"))),
        gzip.compress(tar(header(format=2))),
        gzip.compress(tar(header(run_id="../../escaped"))),
        gzip.compress(tar(header(run_id=""))),
        gzip.compress(tar(header(run_id=RUN_ID.lower()))),
        gzip.compress(tar(header(run_id=5))),
        gzip.compress(tar(header(files=-1))),
        gzip.compress(tar(header(bytes=-1))),
        gzip.compress(tar(header(bytes=1 << 64))),
        gzip.compress(tar(header(record={"run_id": "x"}))),
        zlib.compress(tar(header())),
        tar(header(), config(), sums(config())),
        archive_with() + b"trailing garbage",
        gzip.compress(tar(header(), config(), sums(config())) + b"after the end"),
    ],
    ids=lambda data: (
        f"{len(data)} bytes"
    ),  # gzip writes the time, so the content differs between processes
)
def test_garbage(import_error: Callable[..., str], data: bytes) -> None:
    """Invalid data is rejected with a message."""
    assert import_error(data)


def test_the_record_of_another_run(import_error: Callable[..., str]) -> None:
    """A record with another run id is rejected."""
    record = {"run_id": new_ulid(), "worker": "w", "mode": "train", "env_id": "e", "seed": 1}
    record |= {"state": "succeeded", "created_at": 1.0}
    assert "another run" in import_error(gzip.compress(tar(header(record=record))))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b'{"worker": "w", "api_key": "x"}', b" " * (2 << 20)]
)
def test_an_invalid_configuration(import_error: Callable[..., str], content: bytes) -> None:
    """A run with an invalid configuration is not imported."""
    data = gzip.compress(tar(header(bytes=5 << 20), config(content), sums(config(content))))
    assert "config.json" in import_error(data)
    assert "config.json" in import_error(gzip.compress(tar(header(), sums())))


@pytest.mark.parametrize("name", ["started.json", "exit.json"])
def test_an_invalid_process_record(import_error: Callable[..., str], name: str) -> None:
    """A record that recovery cannot decode is rejected."""
    assert "record of its process" in import_error(
        archive_with((f"{RUN_ID}/{name}", b'{"pid": "x"}'))
    )


def test_the_store_of_an_archive_is_not_used(home: Home) -> None:
    """The store and the rejects are rebuilt from the spool."""
    members = [(f"{RUN_ID}/{name}", b"x" * 5000) for name in ("telemetry.db", "rejects.jsonl")]
    run = home.run(import_run(home, iter([archive_with(*members)])).run_id)
    assert not run.store.exists()
    assert not run.rejects.exists()


def test_imported_json_of_an_archive_is_ignored(home: Home) -> None:
    """The import writes its own `imported.json`."""
    run = home.run(
        import_run(home, iter([archive_with((f"{RUN_ID}/imported.json", b"{}"))])).run_id
    )
    assert json.loads(run.imported.read_bytes())["exported_by"] == "0.1.0"


def test_process_files_are_not_unpacked(home: Home) -> None:
    """Locks, frames and secret files of an archive are skipped."""
    names = ("control", "frames", "supervisor.lock", "telemetry.db-wal", "sub/.env")
    members = [(f"{RUN_ID}/{name}", b"x") for name in names]
    import_run(home, iter([archive_with(*members)]))
    left = {path.name for path in home.run(RUN_ID).path.rglob("*") if path.is_file()}
    assert left == {"config.json", "exit.json", "imported.json"}


def test_out_of_range_times_are_imported(home: Home) -> None:
    """A file with a modification time in the far future is imported."""
    info = tarfile.TarInfo(f"{RUN_ID}/a")
    info.mtime = 1 << 60
    members: list[Member] = [config(), (info, b"")]
    listed = sums(config(), (f"{RUN_ID}/a", b""))
    data = tar(header(), *members, listed, format=tarfile.GNU_FORMAT)
    import_run(home, iter([gzip.compress(data)]))
    assert (home.run(RUN_ID).path / "a").is_file()


def test_every_error_has_a_remedy(home: Home) -> None:
    """Random bytes raise only `UserError`."""
    rng = random.Random(2)
    valid = tar(header(), config(), sums(config()))
    for _ in range(200):
        data = bytearray(valid)
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        with suppress(UserError):
            import_run(home, iter([gzip.compress(bytes(data), 1)]))
            delete_run(home, RUN_ID)
        assert list(home.runs.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["ok", "x" * 300]},
        {"tags": [str(number) for number in range(51)]},
        {"tags": ["\x1b[2J"]},
        {"note": "\x1b[2J"},
        {"note": "x" * 10_001},
        {"name": "two\nlines"},
        {"exit_code": 2**70},
        {"exit_code": -(2**40)},
        {"created_at": -1.0},
        {"started_at": 1e300},
        {"ended_at": 1e300},
    ],
)
def test_an_invalid_record(import_error: Callable[..., str], change: dict[str, Any]) -> None:
    """It is rejected before any file of the run is written."""
    record: dict[str, Any] = {"run_id": RUN_ID, "worker": "echo_worker", "mode": "train"}
    record |= {"env_id": "CartPole-v1", "seed": 7, "state": "succeeded", "created_at": 1.7e9}
    members = config(), sums(config())
    assert "ecord" in import_error(
        gzip.compress(tar(header(record={**record, **change}), *members))
    )

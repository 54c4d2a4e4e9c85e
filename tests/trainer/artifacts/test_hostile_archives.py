"""An archive from anywhere is imported whole or refused with a reason, and leaves no trace then."""

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
    """The archive, before it is compressed."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=format) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            if isinstance(name, str):
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def archive_with(*members: Member) -> bytes:
    """An archive that is sound but for these members."""
    return gzip.compress(tar(header(), config(), *members, sums(config(), *members)))


def special(name: str, kind: bytes, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


@pytest.fixture
def refused(home: Home, tmp_path: Path) -> Callable[..., str]:
    """Imports an archive that must be rejected, and returns the message."""

    def attempt(data: bytes, **limits: int) -> str:
        with pytest.raises(ArchiveError) as caught:
            import_run(home, iter([data]), **limits)
        assert caught.value.remedy
        assert list(home.runs.iterdir()) == []
        assert {path.name for path in tmp_path.iterdir()} == {"var"}
        return caught.value.message

    return attempt


def test_the_archives_of_this_file_are_sound(home: Home) -> None:
    """What the others change one thing about is accepted."""
    data = archive_with((f"{RUN_ID}/a/b.txt", b"abc"))
    assert import_run(home, iter([data])).run_id == RUN_ID
    assert (home.run(RUN_ID).path / "a/b.txt").read_bytes() == b"abc"


def test_archives_of_other_programs(home: Home) -> None:
    """Folders, GNU's long names and unusual file names are understood."""
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
def test_names_outside_of_the_run(refused: Callable[..., str], name: str) -> None:
    """No member is written anywhere but into the run's own directory."""
    info = tarfile.TarInfo(name)
    data = tar(header(), config(), (info, b""), sums(config()), format=tarfile.PAX_FORMAT)
    assert "is not a file name" in refused(gzip.compress(data))


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
def test_links_and_devices(refused: Callable[..., str], kind: bytes, link: str) -> None:
    """Nothing but ordinary files is unpacked, and the member is named."""
    expected = refused(archive_with(special(f"{RUN_ID}/telemetry.jsonl", kind, link)))
    assert "telemetry.jsonl" in expected
    assert "not a file" in expected


def test_a_link_first_and_a_file_behind_it(refused: Callable[..., str], tmp_path: Path) -> None:
    """The old trick of writing through a link that came before fails at the link."""
    link = special(f"{RUN_ID}/checkpoints", tarfile.SYMTYPE, str(tmp_path))
    refused(archive_with(link, (f"{RUN_ID}/checkpoints/escaped", b"x")))


def test_a_name_twice_or_both_file_and_folder(refused: Callable[..., str]) -> None:
    """Members that contradict each other are rejected."""
    twice = (f"{RUN_ID}/a", b"1")
    assert "twice" in refused(archive_with(twice, twice))
    for members in (("a", "a/b"), ("a/b", "a")):
        pair = [(f"{RUN_ID}/{name}", b"1") for name in members]
        assert "file and a folder" in refused(archive_with(*pair))


def test_more_content_than_the_header_lists(refused: Callable[..., str]) -> None:
    """The header's figures are binding, so that the check of the disk's room is too."""
    big = (f"{RUN_ID}/big", bytes(5000))
    members = (config(), big)
    for lie in ({"bytes": 4000}, {"files": 1}):
        data = gzip.compress(tar(header(**lie), *members, sums(*members)))
        assert "more than mosaic-run.json lists" in refused(data)
    data = gzip.compress(tar(header(bytes=10**15), *members, sums(*members)))
    assert "are allowed" in refused(data)
    assert "are allowed" in refused(archive_with(big), max_bytes=1000)


def test_a_bomb_ends_where_the_header_ends(refused: Callable[..., str]) -> None:
    """A few kilobytes that unpack to terabytes are rejected at the first byte too many."""
    info = tarfile.TarInfo(f"{RUN_ID}/bomb")
    info.size = 1 << 42
    data = tar(header(), config()).rstrip(b"\0")
    data += bytes(-len(data) % 512) + info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)
    assert "more than mosaic-run.json lists" in refused(gzip.compress(data))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_endless_extended_header(refused: Callable[..., str], kind: bytes) -> None:
    """A header that claims to be gigabytes long is not read into memory, nor is a chain of them."""
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 4 << 30
    start = tar(header())[:1024]
    block = info.tobuf(tarfile.GNU_FORMAT)
    assert "extended header" in refused(gzip.compress(start + block + bytes(1 << 20)))
    info.size = 0
    chain = info.tobuf(tarfile.GNU_FORMAT) * 10_000
    assert "extended headers" in refused(gzip.compress(start + chain))


@pytest.mark.parametrize(
    "content", [b"x", b"99999999999999 path=x\n", b"-5 path=x\n", b"0 a=b\n", b" "]
)
def test_a_broken_extended_header(refused: Callable[..., str], content: bytes) -> None:
    """Nonsense in it is rejected or without effect, never an endless loop."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(content)
    data = tar(header())[:1024] + info.tobuf(tarfile.USTAR_FORMAT) + content.ljust(512, b"\0")
    refused(gzip.compress(data + tar(config())))


def test_too_many_members(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders count too, although nothing is made of them."""
    monkeypatch.setattr(run_import, "MAX_MEMBERS", 50)
    folders = [special(f"{RUN_ID}/{number}", tarfile.DIRTYPE) for number in range(60)]
    assert "more than 50 members" in refused(archive_with(*folders))


def test_cut_off_anywhere(full_run: RunDirectory, tmp_path: Path) -> None:
    """Of an archive that is not complete nothing is imported, wherever it ends."""
    data = b"".join(export_run(full_run))
    elsewhere = Home(tmp_path / "elsewhere")
    ends = {0, 1, 10, len(data) // 2, len(data) - 9, len(data) - 8, len(data) - 1}
    for end in ends | set(range(1000, len(data), len(data) // 20)):
        with pytest.raises(ArchiveError, match="T362"):
            import_run(elsewhere, iter([data[:end]]))
        assert list(elsewhere.runs.iterdir()) == []


def test_truncated_between_members(refused: Callable[..., str]) -> None:
    """A complete gzip file with an incomplete archive is detected."""
    assert "truncated" in refused(gzip.compress(tar(header(), config())))
    whole = tar(header(), config(), (f"{RUN_ID}/a", bytes(2000)))
    assert "truncated" in refused(gzip.compress(whole[:4000]))


def test_changed_bytes(full_run: RunDirectory, tmp_path: Path) -> None:
    """Damage on the way is noticed; only a bit that means nothing may be another one."""
    data = b"".join(export_run(full_run))
    elsewhere = Home(tmp_path / "elsewhere")
    chooser = random.Random(1)
    for _ in range(60):
        damaged = bytearray(data)
        damaged[chooser.randrange(10, len(data))] ^= 1 << chooser.randrange(8)
        try:
            import_run(elsewhere, iter([bytes(damaged)]))
        except ArchiveError:
            assert list(elsewhere.runs.iterdir()) == []
        else:
            assert gzip.decompress(damaged) == gzip.decompress(data)
            delete_run(elsewhere, full_run.run_id)


def test_other_files_than_listed(refused: Callable[..., str]) -> None:
    """A file that was exchanged, added or taken out after the export is noticed."""
    listed = (f"{RUN_ID}/a", b"listed")
    for members in ([], [(f"{RUN_ID}/a", b"change")], [listed, (f"{RUN_ID}/b", b"")]):
        data = gzip.compress(tar(header(), config(), *members, sums(config(), listed)))
        assert "mosaic-sums.json" in refused(data)
    data = gzip.compress(tar(header(), config(), sums(config()), listed))
    assert "which must be last" in refused(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello, this is no archive",
        b"\x1f\x8b",
        b"\x1f\x8b\x08\0\0\0\0\0\0\3rubbish",
        gzip.compress(b""),
        gzip.compress(b"no tar in here" * 100),
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
        archive_with() + b"trailing rubbish",
        gzip.compress(tar(header(), config(), sums(config())) + b"behind the end"),
    ],
    ids=lambda data: f"{len(data)} bytes",  # the same in every process: gzip writes the time
)
def test_garbage(refused: Callable[..., str], data: bytes) -> None:
    """Any garbage is rejected with a message."""
    assert refused(data)


def test_the_record_of_another_run(refused: Callable[..., str]) -> None:
    """Name and state of one run are not given to another."""
    record = {"run_id": new_ulid(), "worker": "w", "mode": "train", "env_id": "e", "seed": 1}
    record |= {"state": "succeeded", "created_at": 1.0}
    assert "another run" in refused(gzip.compress(tar(header(record=record))))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b'{"worker": "w", "api_key": "x"}', b" " * (2 << 20)]
)
def test_an_invalid_configuration(refused: Callable[..., str], content: bytes) -> None:
    """A run whose configuration no daemon would accept is not imported."""
    data = gzip.compress(tar(header(bytes=5 << 20), config(content), sums(config(content))))
    assert "config.json" in refused(data)
    assert "config.json" in refused(gzip.compress(tar(header(), sums())))


@pytest.mark.parametrize("name", ["started.json", "exit.json"])
def test_a_broken_record_of_a_process(refused: Callable[..., str], name: str) -> None:
    """A record that recovery would stumble over is rejected."""
    assert "record of its process" in refused(archive_with((f"{RUN_ID}/{name}", b'{"pid": "x"}')))


def test_the_store_of_an_archive_is_not_used(home: Home) -> None:
    """Whatever is in it: the store and the rejects are built from the spool."""
    members = [(f"{RUN_ID}/{name}", b"x" * 5000) for name in ("telemetry.db", "rejects.jsonl")]
    run = home.run(import_run(home, iter([archive_with(*members)])).run_id)
    assert not run.store.exists()
    assert not run.rejects.exists()


def test_the_mark_of_an_import_is_not_taken_from_the_archive(home: Home) -> None:
    """An archive cannot pretend that it was never imported, or describe the import."""
    run = home.run(
        import_run(home, iter([archive_with((f"{RUN_ID}/imported.json", b"{}"))])).run_id
    )
    assert json.loads(run.imported.read_bytes())["exported_by"] == "0.1.0"


def test_what_belongs_to_processes_is_not_unpacked(home: Home) -> None:
    """A lock, frames or a secrets file in an archive never reach the run's directory."""
    names = ("control", "frames", "supervisor.lock", "telemetry.db-wal", "sub/.env")
    members = [(f"{RUN_ID}/{name}", b"x") for name in names]
    import_run(home, iter([archive_with(*members)]))
    left = {path.name for path in home.run(RUN_ID).path.rglob("*") if path.is_file()}
    assert left == {"config.json", "exit.json", "imported.json"}


def test_odd_times_do_not_fail(home: Home) -> None:
    """A file from the far future is imported with a time of its own."""
    info = tarfile.TarInfo(f"{RUN_ID}/a")
    info.mtime = 1 << 60
    members: list[Member] = [config(), (info, b"")]
    listed = sums(config(), (f"{RUN_ID}/a", b""))
    data = tar(header(), *members, listed, format=tarfile.GNU_FORMAT)
    import_run(home, iter([gzip.compress(data)]))
    assert (home.run(RUN_ID).path / "a").is_file()


def test_every_error_has_a_remedy(home: Home) -> None:
    """A random mixture of bytes raises nothing but errors that a person can read."""
    chooser = random.Random(2)
    sound = tar(header(), config(), sums(config()))
    for _ in range(200):
        data = bytearray(sound)
        for _ in range(chooser.randrange(1, 6)):
            data[chooser.randrange(len(data))] = chooser.randrange(256)
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
def test_an_invalid_record(refused: Callable[..., str], change: dict[str, Any]) -> None:
    """It is rejected before anything of the run is in its place."""
    record: dict[str, Any] = {"run_id": RUN_ID, "worker": "echo_worker", "mode": "train"}
    record |= {"env_id": "CartPole-v1", "seed": 7, "state": "succeeded", "created_at": 1.7e9}
    members = config(), sums(config())
    assert "ecord" in refused(gzip.compress(tar(header(record={**record, **change}), *members)))

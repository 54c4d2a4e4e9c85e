"""Any archive is imported completely or rejected, and changes nothing outside of its run."""

import gzip
import json
import tarfile
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.layout import Home
from mosaic.trainer.artifacts.archive_format import ArchiveError
from mosaic.trainer.artifacts.run_import import import_run
from tests.trainer.artifacts.test_hostile_archives import (
    RUN_ID,
    Member,
    config,
    header,
    special,
    sums,
    tar,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
path_parts = st.sampled_from(
    ["..", ".", "", "a", "telemetry.jsonl", "telemetry.db", "x" * 300, "ü", "\\"]
)
names = st.one_of(
    st.lists(path_parts, max_size=5).map(lambda parts: "/".join([RUN_ID, *parts])),
    st.lists(path_parts, max_size=3).map("/".join),
    st.text(st.characters(exclude_characters="\0"), max_size=12),
).map(lambda name: name or "-")
kinds = st.sampled_from(
    [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
files = st.tuples(names, st.binary(max_size=64))
specials = st.builds(special, names, kinds, names)
configs = json_values.map(lambda document: config(json.dumps(document).encode()))
headers = st.dictionaries(
    st.sampled_from(["format", "run_id", "mosaic", "exported_at", "files", "bytes"]), json_values
).map(lambda changes: header(**changes))
spools = st.lists(st.binary(max_size=40) | json_values.map(lambda v: json.dumps(v).encode())).map(
    lambda lines: (f"{RUN_ID}/telemetry.jsonl", b"\n".join(lines))
)
members = st.lists(st.one_of(files, specials, spools), max_size=4)


@given(
    st.one_of(st.just(header()), headers),
    st.one_of(st.just(config()), configs),
    members,
    st.booleans(),
)
def test_any_archive_is_imported_or_rejected(
    archive_header: Member, run_config: Member, content: list[Member], is_listed: bool
) -> None:
    listed = [run_config, *content] if is_listed else [run_config]
    try:
        data = tar(archive_header, run_config, *content, sums(*listed))
    except (ValueError, UnicodeError):
        return  # tarfile cannot write it
    expect_imported_or_rejected(gzip.compress(data))


@given(st.data())
def test_any_bytes_are_imported_or_rejected(data: st.DataObject) -> None:
    """Random bytes of a valid archive are changed before it is compressed."""
    archive = bytearray(tar(header(), config(), sums(config())))
    for _ in range(data.draw(st.integers(1, 6))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    expect_imported_or_rejected(gzip.compress(bytes(archive)))


def expect_imported_or_rejected(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "var")
        home.runs.mkdir(parents=True)
        try:
            run_id = import_run(home, iter([data])).run_id
        except ArchiveError:
            assert list(home.runs.iterdir()) == []
        else:
            assert [path.name for path in home.runs.iterdir()] == [run_id]
            assert not any(path.is_symlink() for path in home.run(run_id).path.rglob("*"))
        assert [path.name for path in Path(folder).iterdir()] == ["var"]

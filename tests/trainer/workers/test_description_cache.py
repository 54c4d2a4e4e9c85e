"""Descriptions are cached on disk by the content of the worker's code."""

from pathlib import Path

import pytest

from mosaic.trainer.workers import worker_description
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_description import DescriptionCache
from tests.trainer.workers.worker_files import DESCRIBES_ITSELF, write_worker

pytestmark = pytest.mark.process

COUNTING = "open({calls!r}, 'a').write('called\\n')\n"


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def folder(tmp_path: Path, calls: Path) -> Path:
    """A folder with a worker that counts how often it is described."""
    workers = tmp_path / "workers"
    main = COUNTING.format(calls=str(calls)) + DESCRIBES_ITSELF.format(worker_id="lake_worker")
    write_worker(workers, "lake_worker", main=main)
    return workers


def describe(folder: Path, cache: Path) -> str:
    """Describe the worker with a new catalog, as after a daemon start."""
    catalog = WorkerCatalog((folder,), search_path=[], cache=DescriptionCache(cache))
    return catalog.describe("lake_worker").worker


def test_a_second_daemon_uses_the_cache(tmp_path: Path, folder: Path, calls: Path) -> None:
    """The worker is described again only if its code changes."""
    cache = tmp_path / "cache"
    assert describe(folder, cache) == describe(folder, cache) == "lake_worker"
    assert calls.read_text().count("called") == 1
    main = next(folder.rglob("__main__.py"))
    main.write_text(main.read_text() + "# changed\n")
    assert describe(folder, cache) == "lake_worker"
    assert calls.read_text().count("called") == 2


@pytest.mark.parametrize("content", [b"", b"{}", b'{"worker": "another_worker"}', b"\xff"])
def test_a_damaged_file_is_ignored(
    tmp_path: Path, folder: Path, calls: Path, content: bytes
) -> None:
    """The worker is described again, and the file is replaced."""
    cache = tmp_path / "cache"
    describe(folder, cache)
    (stored,) = cache.iterdir()
    stored.write_bytes(content)
    assert describe(folder, cache) == describe(folder, cache) == "lake_worker"
    assert calls.read_text().count("called") == 2


def test_a_folder_that_cannot_be_written_is_not_an_error(tmp_path: Path, folder: Path) -> None:
    """Descriptions are not cached in that case."""
    cache = tmp_path / "file"
    cache.write_text("not a folder")
    assert describe(folder, cache) == "lake_worker"


def test_old_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of files is limited, because every edit of a worker adds one."""
    monkeypatch.setattr(worker_description, "MAX_FILES", 3)
    cache = DescriptionCache(tmp_path)
    for number in range(5):
        cache.write(f"key {number}", b"answer")
    assert len(list(tmp_path.iterdir())) == 3
    assert cache.read("key 4") == b"answer"

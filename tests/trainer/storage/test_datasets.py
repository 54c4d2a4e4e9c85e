"""Listing of the datasets of the home and of runs, including invalid ones."""

import json

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.storage import Dataset
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.datasets import Datasets
from mosaic.trainer.storage.errors import StoragePageTokenError
from tests.trainer.storage.conftest import NOW, AddRun

SHA256 = "0" * 64


def write_dataset(home: Home, dataset_id: str, manifest: object, **files: bytes) -> None:
    folder = home.datasets / dataset_id
    folder.mkdir(parents=True)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    (folder / "manifest.json").write_text(text)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def test_datasets_of_home_and_runs(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """One list, newest first, with name, number of files and size."""
    datasets = Datasets(home, registry)
    assert datasets.list(0, "").datasets == ()
    run = add_run(("datasets/steps.npz", b"12345", NOW))
    files = [{"path": "data", "sha256": SHA256, "size_bytes": 3}]
    write_dataset(home, "cartpole-expert", {"name": "Expert", "files": files}, data=b"abc")
    first, second = datasets.list(0, "").datasets
    assert (first.dataset_id, first.source, first.name) == ("cartpole-expert", "home", "Expert")
    assert (first.size_bytes, first.files, first.problem) == (3, 1, "")
    assert (second.source, second.run_id, second.size_bytes) == ("run", run.run_id, 5)
    assert (home.path / second.path).is_file()


def test_invalid_datasets_are_listed_with_a_problem(home: Home, registry: RunRegistry) -> None:
    """An invalid dataset does not affect the others."""
    datasets = Datasets(home, registry)
    write_dataset(home, "no-json", "{")
    write_dataset(home, "no-name", {"files": []})
    write_dataset(home, "escaping", {"name": "x", "files": [{"path": "../x", "sha256": SHA256}]})
    write_dataset(home, "no-hash", {"name": "x", "files": [{"path": "data", "sha256": "?"}]})
    write_dataset(home, "missing", {"name": "x", "files": [{"path": "data", "sha256": SHA256}]})
    write_dataset(
        home,
        "truncated",
        {"name": "x", "files": [{"path": "data", "sha256": SHA256, "size_bytes": 9}]},
        data=b"abc",
    )
    (home.datasets / "empty").mkdir()
    write_dataset(home, "good", {"name": "x", "files": []})
    problems = {dataset.dataset_id: dataset.problem for dataset in datasets.list(0, "").datasets}
    assert [name for name, problem in problems.items() if not problem] == ["good"]
    assert len(problems) == 8


def test_pages(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Small pages give the same list; an invalid page token is rejected."""
    datasets = Datasets(home, registry)
    add_run(*((f"datasets/{n}.npz", b"x", NOW + n) for n in range(5)))
    for name in "abc":
        write_dataset(home, name, {"name": name, "files": []})
    listed: list[Dataset] = []
    token = ""
    while True:
        page = datasets.list(2, token)
        listed += page.datasets
        token = page.next_page_token
        if not token:
            break
    assert tuple(listed) == datasets.list(0, "").datasets
    assert len(listed) == 8
    with pytest.raises(StoragePageTokenError):
        datasets.list(2, "AAAA")

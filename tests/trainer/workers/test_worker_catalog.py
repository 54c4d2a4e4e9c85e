"""Workers are found by their worker.toml; a broken one does not hide the others."""

import logging
import os
import resource
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from tests.trainer.workers.worker_files import (
    DESCRIBES_ITSELF,
    install_distribution,
    install_editable,
    manifest_text,
    write_worker,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "workers"
    path.mkdir()
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "site"
    path.mkdir()
    return path


@pytest.fixture
def catalog(folder: Path, site: Path) -> WorkerCatalog:
    return WorkerCatalog((folder,), search_path=[str(site)])


def valid_workers(catalog: WorkerCatalog) -> dict[str, FoundWorker]:
    return {
        worker.worker_id: worker for worker in catalog.scan() if isinstance(worker, FoundWorker)
    }


def broken_workers(catalog: WorkerCatalog) -> dict[str, BrokenWorker]:
    return {
        worker.worker_id: worker for worker in catalog.scan() if isinstance(worker, BrokenWorker)
    }


def test_the_checkout_has_the_echo_worker() -> None:
    """By default the workers of the checkout are found, with their sources."""
    worker = WorkerCatalog(search_path=[]).find("echo_worker")
    assert worker.source == "folder"
    assert [path.name for path in worker.packages] == ["echo_worker"]


def test_a_folder_may_be_a_worker_itself(tmp_path: Path) -> None:
    """`worker_folders` may contain the folder of one worker or a parent folder."""
    package = write_worker(tmp_path, "lake_worker")
    catalog = WorkerCatalog((tmp_path / "lake_worker",), search_path=[])
    assert catalog.find("lake_worker").packages == (package,)


def test_sources_without_src(folder: Path, catalog: WorkerCatalog) -> None:
    """A package beside worker.toml is the worker's code; its tests are not."""
    package = write_worker(folder, "lake_worker")
    package.rename(folder / "lake_worker" / "lake_worker")
    (folder / "lake_worker" / "src").rmdir()
    (folder / "lake_worker" / "tests").mkdir()
    assert catalog.find("lake_worker").packages == (folder / "lake_worker" / "lake_worker",)


def test_a_missing_folder_has_no_workers(tmp_path: Path) -> None:
    """A missing worker folder is not an error."""
    assert WorkerCatalog((tmp_path / "missing",), search_path=[]).scan() == []


def test_broken_workers_are_listed_with_the_others(folder: Path, catalog: WorkerCatalog) -> None:
    """A broken manifest and a missing module are reported; valid workers are found."""
    write_worker(folder, "good_worker")
    write_worker(folder, "bad_toml")
    (folder / "bad_toml" / "worker.toml").write_text("id = ")
    package = write_worker(folder, "no_module")
    (package / "__main__.py").unlink()
    assert set(valid_workers(catalog)) == {"good_worker"}
    assert set(broken_workers(catalog)) == {"bad_toml", "no_module"}
    assert "no_module/__main__.py" in broken_workers(catalog)["no_module"].problem
    assert all(worker.remedy for worker in broken_workers(catalog).values())


def test_a_broken_worker_reports_why(folder: Path, catalog: WorkerCatalog) -> None:
    """The error has the problem instead of `unknown worker`."""
    write_worker(folder, "bad_toml")
    (folder / "bad_toml" / "worker.toml").write_text("id = ")
    with pytest.raises(UserError, match="cannot be used") as failure:
        catalog.find("bad_toml")
    assert failure.value.code == "T131"


def test_an_unknown_worker_gets_a_suggestion(folder: Path, catalog: WorkerCatalog) -> None:
    """The error for a misspelt id suggests a similar one."""
    write_worker(folder, "lake_worker")
    with pytest.raises(UserError, match="Did you mean lake_worker") as failure:
        catalog.find("lake_wroker")
    assert failure.value.code == "T130"


def test_a_duplicate_id_is_broken(tmp_path: Path) -> None:
    """The first folder is used, the second is listed with the reason."""
    first = write_worker(tmp_path / "a", "lake_worker")
    write_worker(tmp_path / "b", "lake_worker")
    catalog = WorkerCatalog((tmp_path / "a", tmp_path / "b"), search_path=[])
    assert catalog.find("lake_worker").packages == (first,)
    assert str(tmp_path / "a") in broken_workers(catalog)["lake_worker"].problem


def test_an_edited_manifest_is_read_again(folder: Path, catalog: WorkerCatalog) -> None:
    """A corrected worker.toml is found without a restart."""
    write_worker(folder, "lake_worker")
    manifest = folder / "lake_worker" / "worker.toml"
    manifest.write_text("id = ")
    assert "lake_worker" in broken_workers(catalog)
    manifest.write_text(manifest_text("lake_worker"))
    assert "lake_worker" in valid_workers(catalog)


def test_an_installed_worker_appears(site: Path, catalog: WorkerCatalog) -> None:
    """A worker installed while the daemon is running is found, with only its own code."""
    assert catalog.scan() == []
    (site / "numpy").mkdir()
    install_distribution(
        site,
        "lake",
        {
            "lake_worker/worker.toml": manifest_text("lake_worker"),
            "lake_worker/__init__.py": "",
            "lake_worker/__main__.py": "",
            "lake_worker/maps/small.txt": "",
            "lake_tools.py": "",
            "../../bin/lake": "",
        },
    )
    worker = catalog.find("lake_worker")
    assert worker.source == "distribution"
    assert worker.version == "1.5"
    assert worker.packages == (site / "lake_tools.py", site / "lake_worker")


def test_a_namespace_package_is_not_copied_completely(site: Path, catalog: WorkerCatalog) -> None:
    """Only the worker's part of a shared namespace package is its code."""
    install_distribution(site, "other", {"acme/other/__init__.py": ""})
    install_distribution(
        site,
        "lake",
        {
            "acme/lake/worker.toml": manifest_text("lake_worker", "acme.lake"),
            "acme/lake/__init__.py": "",
            "acme/lake/__main__.py": "",
        },
    )
    (tree,) = catalog.find("lake_worker").sources
    assert tree == ("acme/lake", site / "acme" / "lake")


def test_an_editable_installation_is_found(
    tmp_path: Path, site: Path, catalog: WorkerCatalog
) -> None:
    """Its RECORD has no worker.toml, so the project folder is searched."""
    package = write_worker(tmp_path / "projects", "lake_worker")
    install_editable(site, "lake", tmp_path / "projects" / "lake_worker")
    worker = catalog.find("lake_worker")
    assert worker.source == "distribution"
    assert worker.packages == (package,)


def test_a_folder_installed_as_editable_is_one_worker(
    folder: Path, site: Path, catalog: WorkerCatalog
) -> None:
    """The same files are listed once, as a folder."""
    write_worker(folder, "lake_worker")
    install_editable(site, "lake", folder / "lake_worker")
    (worker,) = catalog.scan()
    assert isinstance(worker, FoundWorker)
    assert worker.source == "folder"
    assert worker.also_at == ()


def test_a_folder_takes_precedence_over_a_distribution(
    folder: Path, site: Path, catalog: WorkerCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder is used, and the log names the distribution that is not used."""
    write_worker(folder, "lake_worker")
    install_distribution(
        site,
        "lake",
        {"lake_worker/worker.toml": manifest_text("lake_worker"), "lake_worker/__main__.py": ""},
    )
    with caplog.at_level(logging.INFO):
        (worker,) = catalog.scan()
    assert isinstance(worker, FoundWorker)
    assert worker.source == "folder"
    assert worker.also_at == (site / "lake_worker",)
    assert "T134" in caplog.text


def test_a_damaged_distribution_is_skipped(site: Path, catalog: WorkerCatalog) -> None:
    """Other distributions are still found."""
    install_distribution(site, "damaged", {"damaged.py": ""})
    (site / "damaged-1.5.dist-info" / "RECORD").write_bytes(b"\xff/worker.toml,,\n")
    install_editable(site, "moved", site / "missing")
    (site / "moved-1.5.dist-info" / "direct_url.json").write_text("{")
    install_distribution(
        site,
        "lake",
        {
            "lake_worker/worker.toml": manifest_text("lake_worker"),
            "lake_worker/__main__.py": DESCRIBES_ITSELF.format(worker_id="lake_worker"),
        },
    )
    assert set(valid_workers(catalog)) == {"lake_worker"}


def test_too_many_open_files(folder: Path, site: Path) -> None:
    """The error is reported, and the workers are found once files can be opened."""
    write_worker(folder, "lake_worker")
    files = {"ice_worker/worker.toml": manifest_text("ice_worker")}
    install_distribution(site, "ice", {**files, "ice_worker/__main__.py": ""})
    catalogs = WorkerCatalog((folder,), search_path=[]), WorkerCatalog((), search_path=[str(site)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = os.open(folder, os.O_RDONLY)
    os.close(spare)
    resource.setrlimit(resource.RLIMIT_NOFILE, (spare, hard))
    try:
        problems = []
        for catalog in catalogs:
            with pytest.raises(UserError) as caught:
                catalog.find("any_worker")
            problems.append(caught.value.code)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert problems == ["T139", "T139"]
    assert [*valid_workers(catalogs[0]), *valid_workers(catalogs[1])] == [
        "lake_worker",
        "ice_worker",
    ]

"""Every worker is found by its worker.toml, and one that is broken never hides the others."""

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
    made = tmp_path / "workers"
    made.mkdir()
    return made


@pytest.fixture
def site(tmp_path: Path) -> Path:
    made = tmp_path / "site"
    made.mkdir()
    return made


@pytest.fixture
def catalog(folder: Path, site: Path) -> WorkerCatalog:
    return WorkerCatalog((folder,), search_path=[str(site)])


def found(catalog: WorkerCatalog) -> dict[str, FoundWorker]:
    return {each.worker_id: each for each in catalog.scan() if isinstance(each, FoundWorker)}


def broken(catalog: WorkerCatalog) -> dict[str, BrokenWorker]:
    return {each.worker_id: each for each in catalog.scan() if isinstance(each, BrokenWorker)}


def test_the_checkout_has_the_echo_worker() -> None:
    """Without any setting the workers of the checkout are there, with their sources."""
    worker = WorkerCatalog(search_path=[]).find("echo_worker")
    assert worker.source == "folder"
    assert [path.name for path in worker.packages] == ["echo_worker"]


def test_a_folder_may_be_a_worker_itself(tmp_path: Path) -> None:
    """A setting may name the folder of one worker as well as a folder of many."""
    package = write_worker(tmp_path, "lake_worker")
    catalog = WorkerCatalog((tmp_path / "lake_worker",), search_path=[])
    assert catalog.find("lake_worker").packages == (package,)


def test_sources_without_src(folder: Path, catalog: WorkerCatalog) -> None:
    """A package beside the worker.toml is the worker's code, and its tests are not."""
    package = write_worker(folder, "lake_worker")
    package.rename(folder / "lake_worker" / "lake_worker")
    (folder / "lake_worker" / "src").rmdir()
    (folder / "lake_worker" / "tests").mkdir()
    assert catalog.find("lake_worker").packages == (folder / "lake_worker" / "lake_worker",)


def test_a_missing_folder_has_no_workers(tmp_path: Path) -> None:
    """A folder that a setting names and that is not there is not an error."""
    assert WorkerCatalog((tmp_path / "nowhere",), search_path=[]).scan() == []


def test_broken_workers_are_listed_with_the_others(folder: Path, catalog: WorkerCatalog) -> None:
    """A broken manifest and a missing module are reported, and good workers are found."""
    write_worker(folder, "good_worker")
    write_worker(folder, "bad_toml")
    (folder / "bad_toml" / "worker.toml").write_text("id = ")
    package = write_worker(folder, "no_module")
    (package / "__main__.py").unlink()
    assert set(found(catalog)) == {"good_worker"}
    assert set(broken(catalog)) == {"bad_toml", "no_module"}
    assert "no_module/__main__.py" in broken(catalog)["no_module"].problem
    assert all(worker.remedy for worker in broken(catalog).values())


def test_a_broken_worker_reports_why(folder: Path, catalog: WorkerCatalog) -> None:
    """Asking for a worker that cannot be used gives its problem, not `there is none`."""
    write_worker(folder, "bad_toml")
    (folder / "bad_toml" / "worker.toml").write_text("id = ")
    with pytest.raises(UserError, match="cannot be used") as failure:
        catalog.find("bad_toml")
    assert failure.value.code == "T131"


def test_an_unknown_worker_gets_a_suggestion(folder: Path, catalog: WorkerCatalog) -> None:
    """A misspelt id is answered with the one that was meant, and with all there are."""
    write_worker(folder, "lake_worker")
    with pytest.raises(UserError, match="Did you mean lake_worker") as failure:
        catalog.find("lake_wroker")
    assert failure.value.code == "T130"


def test_the_second_of_one_id_is_broken(tmp_path: Path) -> None:
    """Two folders with one id: the first is used, the second is listed with the reason."""
    first = write_worker(tmp_path / "a", "lake_worker")
    write_worker(tmp_path / "b", "lake_worker")
    catalog = WorkerCatalog((tmp_path / "a", tmp_path / "b"), search_path=[])
    assert catalog.find("lake_worker").packages == (first,)
    assert str(tmp_path / "a") in broken(catalog)["lake_worker"].problem


def test_an_edited_manifest_is_read_again(folder: Path, catalog: WorkerCatalog) -> None:
    """A corrected worker.toml is found without a restart."""
    write_worker(folder, "lake_worker")
    manifest = folder / "lake_worker" / "worker.toml"
    manifest.write_text("id = ")
    assert "lake_worker" in broken(catalog)
    manifest.write_text(manifest_text("lake_worker"))
    assert "lake_worker" in found(catalog)


def test_an_installed_worker_appears(site: Path, catalog: WorkerCatalog) -> None:
    """A worker installed while the daemon runs is found, with exactly its own code."""
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


def test_a_shared_package_keeps_others_out(site: Path, catalog: WorkerCatalog) -> None:
    """Of a namespace that several distributions share, only the worker's part is its code."""
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
    """An editable one lists no worker.toml; its project is looked at."""
    package = write_worker(tmp_path / "projects", "lake_worker")
    install_editable(site, "lake", tmp_path / "projects" / "lake_worker")
    worker = catalog.find("lake_worker")
    assert worker.source == "distribution"
    assert worker.packages == (package,)


def test_a_folder_installed_as_editable_is_one_worker(
    folder: Path, site: Path, catalog: WorkerCatalog
) -> None:
    """The same files found both ways are one worker, a folder, and nothing is broken."""
    write_worker(folder, "lake_worker")
    install_editable(site, "lake", folder / "lake_worker")
    (worker,) = catalog.scan()
    assert isinstance(worker, FoundWorker)
    assert worker.source == "folder"
    assert worker.also_at == ()


def test_a_folder_wins_over_a_distribution(
    folder: Path, site: Path, catalog: WorkerCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    """The worker being worked on is used, and the log says which one is not."""
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


def test_a_damaged_distribution_hides_no_other(site: Path, catalog: WorkerCatalog) -> None:
    """Metadata that cannot be read is passed over."""
    install_distribution(site, "damaged", {"damaged.py": ""})
    (site / "damaged-1.5.dist-info" / "RECORD").write_bytes(b"\xff/worker.toml,,\n")
    install_editable(site, "moved", site / "nowhere")
    (site / "moved-1.5.dist-info" / "direct_url.json").write_text("{")
    install_distribution(
        site,
        "lake",
        {
            "lake_worker/worker.toml": manifest_text("lake_worker"),
            "lake_worker/__main__.py": DESCRIBES_ITSELF.format(worker_id="lake_worker"),
        },
    )
    assert set(found(catalog)) == {"lake_worker"}


def test_a_shortage_of_files_is_not_a_lack_of_workers(folder: Path, site: Path) -> None:
    """It is reported as what it is, and when it is over the workers are there."""
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
    assert [*found(catalogs[0]), *found(catalogs[1])] == ["lake_worker", "ice_worker"]

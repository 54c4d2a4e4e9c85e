"""Environments that are outdated, broken or removed, and copies of worker code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.run_config import BundleConfig
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.bundles.requirement_lines import normalize_lines
from tests.trainer.bundles.conftest import Sandbox
from tests.trainer.workers.worker_files import write_worker

pytestmark = pytest.mark.process

OLD_TIMES = (0, 0)


def folder_of(prepared: PreparedWorker) -> Path:
    return prepared.python.parents[1]


def states(sandbox: Sandbox, uses: dict[str, int] | None = None) -> dict[str, str]:
    return {info.hash: info.state for info in sandbox.store.list(uses or {})}


def test_changed_requirements_need_a_new_environment(sandbox: Sandbox) -> None:
    """The old one is kept and listed as outdated; changed comments have no effect."""
    sandbox.add_worker()
    old = sandbox.store.prepare("lake", None)
    sandbox.require("# only a comment\n\n")
    assert sandbox.store.lookup("lake", None) == old
    sandbox.require("--prefer-binary\n")
    assert sandbox.store.lookup("lake", None) is None
    assert states(sandbox)[old.use.hash] == "outdated"
    new = sandbox.store.prepare("lake", None)
    assert states(sandbox) == {old.use.hash: "outdated", new.use.hash: "ready"}
    assert folder_of(old).exists()


def test_constraints_are_part_of_the_requirements(sandbox: Sandbox) -> None:
    """Changing the content of a constraints file changes the requirements."""
    constraints = sandbox.requirements / "limits"
    constraints.write_text("ice<2\n")
    sandbox.add_worker(requires="-c limits\n")
    old = sandbox.store.prepare("lake", None)
    constraints.write_text("ice<3\n")
    assert sandbox.store.lookup("lake", None) is None
    constraints.write_text("ice<2  # as before\n")
    assert sandbox.store.lookup("lake", None) == old


@pytest.mark.parametrize(
    "python",
    ["missing", "failing", "other_version"],
)
def test_a_broken_environment_is_detected_and_repaired(sandbox: Sandbox, python: str) -> None:
    """A missing, failing or different interpreter is listed as broken and repaired."""
    sandbox.add_worker()
    prepared = sandbox.store.prepare("lake", None)
    prepared.python.unlink()
    if python == "missing":
        prepared.python.symlink_to(sandbox.folder / "removed-python")
    else:
        prepared.python.write_text(
            f"#!/bin/sh\n{'exit 1' if python == 'failing' else 'echo 3.1'}\n"
        )
        prepared.python.chmod(0o755)
    (info,) = sandbox.store.list({})
    assert (info.state, bool(info.problem), bool(info.remedy)) == ("broken", True, True)
    assert sandbox.store.lookup("lake", None) is None
    assert sandbox.store.prepare("lake", None) == prepared
    assert states(sandbox) == {prepared.use.hash: "ready"}


def test_an_environment_in_use_is_kept(sandbox: Sandbox) -> None:
    """Only unused environments are removed; the others are listed with the reason."""
    sandbox.add_worker()
    old = folder_of(sandbox.store.prepare("lake", None)).name
    sandbox.require("--prefer-binary\n")
    new = folder_of(sandbox.store.prepare("lake", None)).name
    result = sandbox.store.remove("lake", "", {old: 2})
    assert result.removed == (new,)
    assert result.freed_bytes > 0
    assert result.not_removed == (f"{old}: 2 runs need it",)
    assert sandbox.environments() == [old]
    assert sandbox.store.remove("lake", old.rpartition("-")[2], {old: 1}).removed == ()
    assert sandbox.store.remove("lake", old.rpartition("-")[2], {}).removed == (old,)
    with pytest.raises(UserError, match="No environment"):
        sandbox.store.remove("lake", "", {})


def test_files_of_an_interrupted_installation_are_removed(sandbox: Sandbox) -> None:
    """An incomplete environment is listed as broken and removed; other folders are kept."""
    sandbox.add_worker()
    prepared = sandbox.store.prepare("lake", None)
    venvs = sandbox.home.venvs
    incomplete = venvs / "lake-0123456789ab"
    incomplete.mkdir()
    (venvs / ".making-lake-0123456789ab-feed").mkdir()
    (venvs / ".removing-lake-aaaaaaaaaaaa-feed").mkdir()
    (venvs / "user folder").mkdir()
    assert states(sandbox)["0123456789ab"] == "broken"
    sandbox.store.clean({}, ())
    assert sandbox.environments() == [folder_of(prepared).name, "user folder"]


def test_an_interrupted_repair_is_undone(sandbox: Sandbox) -> None:
    """The previous environment is restored if the repair was killed."""
    sandbox.add_worker()
    prepared = sandbox.store.prepare("lake", None)
    folder = folder_of(prepared)
    folder.rename(folder.with_name(f".replaced-{folder.name}-feed"))
    folder.mkdir()
    sandbox.store.clean({}, ())
    assert sandbox.store.lookup("lake", None) == prepared


def test_unused_outdated_environments_are_removed(
    sandbox: Sandbox,
) -> None:
    """An old environment is kept while a run needs it or if it was used recently."""
    sandbox.add_worker()
    old = folder_of(sandbox.store.prepare("lake", None))
    sandbox.require("--prefer-binary\n")
    new = folder_of(sandbox.store.prepare("lake", None))
    sandbox.store.clean({}, ())
    assert old.exists()
    os.utime(old, OLD_TIMES)
    os.utime(new, OLD_TIMES)
    sandbox.store.clean({old.name: 1}, ())
    assert old.exists()
    sandbox.store.clean({}, ())
    assert sandbox.environments() == [new.name]


def test_a_worker_without_a_bundle_uses_our_python(sandbox: Sandbox) -> None:
    """Nothing is installed, and the recorded bundle use is empty."""
    write_worker(sandbox.workers, "plain")
    prepared = sandbox.store.lookup("plain", None)
    assert prepared is not None
    assert prepared.python == Path(sys.executable)
    assert (prepared.use.name, prepared.use.hash, prepared.use.path) == ("", "", "")
    assert sandbox.store.is_ready("plain")
    assert sandbox.environments() == []


def test_a_moved_home_still_works(sandbox: Sandbox) -> None:
    """Recorded paths are relative to the home."""
    sandbox.add_worker()
    use = sandbox.store.prepare("lake", None).use
    sandbox.home.path.rename(sandbox.folder / "moved")
    (sandbox.folder / "home").symlink_to(sandbox.folder / "moved")
    prepared = sandbox.another_store().lookup("lake", None)
    assert prepared is not None
    assert prepared.use == use
    subprocess.run([prepared.python, "-c", ""], check=True)


@pytest.mark.parametrize("name", ["unknown", "../lake", "", ".hidden", "a/b", "x" * 5000])
def test_unknown_and_hostile_names_are_rejected(sandbox: Sandbox, name: str) -> None:
    """No name refers to a path outside of the requirements and environment folders."""
    sandbox.add_worker()
    for call in (
        lambda: sandbox.store.install(name),
        lambda: sandbox.store.remove(name, "", {}),
    ):
        with pytest.raises(UserError) as failure:
            call()
        assert failure.value.code in ("T320", "T338")


def test_a_run_may_choose_another_bundle(sandbox: Sandbox) -> None:
    """An existing bundle can be selected; the error for an unknown one lists them."""
    sandbox.add_worker()
    sandbox.require("--prefer-binary\n", "river")
    prepared = sandbox.store.prepare("lake", BundleConfig(name="river"))
    assert prepared.use.name == "river"
    with pytest.raises(UserError, match="Bundles here: lake"):
        sandbox.store.prepare("lake", BundleConfig(name="ocean"))


def test_a_worker_that_uses_the_client_can_import_it(sandbox: Sandbox) -> None:
    """PYTHONPATH has the worker's code, MOSAIC's if it uses the client, then the run's."""
    package = sandbox.add_worker()
    plain = sandbox.store.prepare("lake", None)
    assert plain.environment(["/own"])["PYTHONPATH"] == f"{plain.code}:/own"
    manifest = package.parents[1] / "worker.toml"
    manifest.write_text(f"{manifest.read_text()}\nuses_client = true\n")
    prepared = sandbox.another_store().prepare("lake", None)
    code, mosaic, own = prepared.environment(["/own"])["PYTHONPATH"].split(os.pathsep)
    assert (code, own) == (str(prepared.code), "/own")
    assert (Path(mosaic) / "mosaic" / "client" / "__init__.py").is_file()


def test_scripts_may_have_their_own_bundle(sandbox: Sandbox) -> None:
    """It is used for runs of a script unless the run selects another bundle."""
    package = sandbox.add_worker()
    manifest = package.parents[1] / "worker.toml"
    manifest.write_text(f'{manifest.read_text()}\nscript_bundle = "lake_scripts"\n')
    (manifest.parent / "lake_scripts.txt").write_text("--prefer-binary\n")
    (manifest.parent / "lake_scripts.winter.txt").write_text("--prefer-binary\n")
    store = sandbox.another_store()
    assert {info.name: info.available_extras for info in store.list({})} == {
        "lake": (),
        "lake_scripts": ("winter",),
    }
    winter = BundleConfig(extras=("winter",))
    assert store.lookup("lake", winter, "/own.py") is None
    scripted = store.prepare("lake", winter, "/own.py")
    assert (scripted.use.name, scripted.use.extras) == ("lake_scripts", ("winter",))
    assert store.is_ready("lake", "/own.py")
    assert not store.is_ready("lake")
    own = BundleConfig(name="lake")
    assert store.prepare("lake", own, "/own.py").use.name == "lake"
    with pytest.raises(UserError, match="no extra 'winter'"):
        store.lookup("lake", winter)


def test_dependencies_of_pyproject_toml(sandbox: Sandbox) -> None:
    """They are used if there is no requirements file, including markers and extras."""
    package = sandbox.add_worker()
    (sandbox.requirements / "lake.txt").unlink()
    (package.parents[1] / "pyproject.toml").write_text(
        """
[project]
dependencies = ["mosaic-worker>=0.1", "ice>=1; python_version < '3'"]
[project.optional-dependencies]
winter = ["ice; python_version < '3'"]
"""
    )
    prepared = sandbox.store.prepare("lake", BundleConfig(name="lake", extras=("winter",)))
    assert prepared.use.packages == {}
    (package.parents[1] / "pyproject.toml").write_text("[project]\ndependencies = ['!']\n")
    with pytest.raises(UserError, match="not a requirement"):
        sandbox.store.lookup("lake", None)


def test_requirement_files_that_include_each_other(sandbox: Sandbox) -> None:
    """A circular include is an error, not an endless loop."""
    sandbox.add_worker(requires="-r lake.txt\n")
    with pytest.raises(UserError, match="includes itself"):
        sandbox.store.lookup("lake", None)


def test_requirements_are_normalized() -> None:
    """Comments, continuation lines, blank lines and the SDK itself are removed."""
    text = "# head\nice==1 \\\n  --hash=sha256:00\n\n  snow  # cold\nmosaic_worker==1\nurl#x\n"
    assert normalize_lines(text) == ["ice==1 --hash=sha256:00", "snow", "url#x"]


def test_an_edited_worker_gets_a_new_copy_and_keeps_its_packages(sandbox: Sandbox) -> None:
    """A run keeps the code it was started with; editing does not reinstall packages."""
    package = sandbox.add_worker()
    (package / "tests").mkdir()
    (package / "tests" / "test_it.py").write_text("")
    (package / "map.txt").write_text("SFFG")
    first = sandbox.store.prepare("lake", None)
    (package / "__main__.py").write_text("print('edited')")
    second = sandbox.store.lookup("lake", None)
    assert second is not None
    assert second.python == first.python
    assert second.use.code_hash != first.use.code_hash
    assert "edited" not in (first.code / "lake" / "__main__.py").read_text()
    assert "edited" in (second.code / "lake" / "__main__.py").read_text()
    assert sorted(path.name for path in first.code.iterdir()) == ["lake", "mosaic_worker"]
    copied = {path.name for path in (first.code / "lake").iterdir()}
    assert copied == {"__init__.py", "__main__.py", "map.txt"}
    assert (first.code.name, first.use.code_path) == (
        f"lake-{first.use.code_hash}",
        f"trainer/worker_code/{first.code.name}",
    )


def test_a_damaged_copy_is_replaced(sandbox: Sandbox) -> None:
    """A copy with changed or truncated files is not used."""
    sandbox.add_worker()
    prepared = sandbox.store.prepare("lake", None)
    (prepared.code / "lake" / "__main__.py").write_text("")
    assert sandbox.store.lookup("lake", None) == prepared
    assert (prepared.code / "lake" / "__main__.py").read_text()


def test_unused_copies_are_removed(sandbox: Sandbox) -> None:
    """Copies of runs, of current workers and recent ones are kept."""
    package = sandbox.add_worker()
    copies = []
    for content in ("one", "two", "three", "four"):
        (package / "__init__.py").write_text(f"# {content}")
        copies.append(sandbox.store.prepare("lake", None).code)
    unused, used, fresh, current = copies
    unfinished = sandbox.home.worker_code / ".copying-lake-0-1"
    unfinished.mkdir()
    for path in (unused, used, current, unfinished):
        os.utime(path, OLD_TIMES)
    sandbox.store.clean({}, {used.name})
    assert set(sandbox.home.worker_code.iterdir()) == {used, fresh, current}

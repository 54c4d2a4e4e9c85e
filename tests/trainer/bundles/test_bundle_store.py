"""What is installed stays right: environments that change, break or go, and copies of code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.run_config import BundleConfig
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.bundles.requirement_lines import normalize_lines
from tests.trainer.bundles.conftest import Workshop
from tests.trainer.workers.worker_files import write_worker

pytestmark = pytest.mark.process

LONG_AGO = (0, 0)


def folder_of(prepared: PreparedWorker) -> Path:
    return prepared.python.parents[1]


def states(workshop: Workshop, uses: dict[str, int] | None = None) -> dict[str, str]:
    return {info.hash: info.state for info in workshop.store.list(uses or {})}


def test_new_requirements_make_a_new_environment(workshop: Workshop) -> None:
    """The old one stays, is shown as outdated, and comments alone change nothing."""
    workshop.add_worker()
    old = workshop.store.prepare("lake", None)
    workshop.require("# nothing but words\n\n")
    assert workshop.store.lookup("lake", None) == old
    workshop.require("--prefer-binary\n")
    assert workshop.store.lookup("lake", None) is None
    assert states(workshop)[old.use.hash] == "outdated"
    new = workshop.store.prepare("lake", None)
    assert states(workshop) == {old.use.hash: "outdated", new.use.hash: "ready"}
    assert folder_of(old).exists()


def test_constraints_count_by_their_content(workshop: Workshop) -> None:
    """A changed file of constraints is a change of the requirements."""
    constraints = workshop.requirements / "limits"
    constraints.write_text("ice<2\n")
    workshop.add_worker(requires="-c limits\n")
    old = workshop.store.prepare("lake", None)
    constraints.write_text("ice<3\n")
    assert workshop.store.lookup("lake", None) is None
    constraints.write_text("ice<2  # as before\n")
    assert workshop.store.lookup("lake", None) == old


@pytest.mark.parametrize(
    "python",
    ["gone", "dead", "another"],
)
def test_a_broken_environment_is_noticed_and_repaired(workshop: Workshop, python: str) -> None:
    """A Python that is gone, dead or of another version: reported in the list, and made again."""
    workshop.add_worker()
    prepared = workshop.store.prepare("lake", None)
    prepared.python.unlink()
    if python == "gone":
        prepared.python.symlink_to(workshop.folder / "removed-python")
    else:
        prepared.python.write_text(f"#!/bin/sh\n{'exit 1' if python == 'dead' else 'echo 3.1'}\n")
        prepared.python.chmod(0o755)
    (info,) = workshop.store.list({})
    assert (info.state, bool(info.problem), bool(info.remedy)) == ("broken", True, True)
    assert workshop.store.lookup("lake", None) is None
    assert workshop.store.prepare("lake", None) == prepared
    assert states(workshop) == {prepared.use.hash: "ready"}


def test_an_environment_in_use_is_kept(workshop: Workshop) -> None:
    """Only what no run needs is removed; the rest is named with the reason."""
    workshop.add_worker()
    old = folder_of(workshop.store.prepare("lake", None)).name
    workshop.require("--prefer-binary\n")
    new = folder_of(workshop.store.prepare("lake", None)).name
    outcome = workshop.store.remove("lake", "", {old: 2})
    assert outcome.removed == (new,)
    assert outcome.freed_bytes > 0
    assert outcome.not_removed == (f"{old}: 2 runs need it",)
    assert workshop.environments() == [old]
    assert workshop.store.remove("lake", old.rpartition("-")[2], {old: 1}).removed == ()
    assert workshop.store.remove("lake", old.rpartition("-")[2], {}).removed == (old,)
    with pytest.raises(UserError, match="No environment"):
        workshop.store.remove("lake", "", {})


def test_what_a_cut_off_installation_left_is_cleaned(workshop: Workshop) -> None:
    """Half an environment is shown as broken, and is gone after cleaning; others stay."""
    workshop.add_worker()
    prepared = workshop.store.prepare("lake", None)
    venvs = workshop.home.venvs
    half = venvs / "lake-0123456789ab"
    half.mkdir()
    (venvs / ".making-lake-0123456789ab-feed").mkdir()
    (venvs / ".removing-lake-aaaaaaaaaaaa-feed").mkdir()
    (venvs / "somebody's own").mkdir()
    assert states(workshop)["0123456789ab"] == "broken"
    workshop.store.clean({}, ())
    assert workshop.environments() == [folder_of(prepared).name, "somebody's own"]


def test_a_cut_off_repair_is_undone(workshop: Workshop) -> None:
    """What was set aside for a repair comes back when the repair was killed."""
    workshop.add_worker()
    prepared = workshop.store.prepare("lake", None)
    folder = folder_of(prepared)
    folder.rename(folder.with_name(f".replaced-{folder.name}-feed"))
    folder.mkdir()
    workshop.store.clean({}, ())
    assert workshop.store.lookup("lake", None) == prepared


def test_unused_outdated_environments_are_removed(
    workshop: Workshop,
) -> None:
    """An old environment stays while a run needs it, or while it was used lately."""
    workshop.add_worker()
    old = folder_of(workshop.store.prepare("lake", None))
    workshop.require("--prefer-binary\n")
    new = folder_of(workshop.store.prepare("lake", None))
    workshop.store.clean({}, ())
    assert old.exists()
    os.utime(old, LONG_AGO)
    os.utime(new, LONG_AGO)
    workshop.store.clean({old.name: 1}, ())
    assert old.exists()
    workshop.store.clean({}, ())
    assert workshop.environments() == [new.name]


def test_a_worker_without_a_bundle_uses_our_python(workshop: Workshop) -> None:
    """Nothing is installed for it, and what is recorded says so."""
    write_worker(workshop.workers, "plain")
    prepared = workshop.store.lookup("plain", None)
    assert prepared is not None
    assert prepared.python == Path(sys.executable)
    assert (prepared.use.name, prepared.use.hash, prepared.use.path) == ("", "", "")
    assert workshop.store.is_ready("plain")
    assert workshop.environments() == []


def test_a_moved_home_still_works(workshop: Workshop) -> None:
    """Nothing recorded has the home's place in it."""
    workshop.add_worker()
    use = workshop.store.prepare("lake", None).use
    workshop.home.path.rename(workshop.folder / "elsewhere")
    (workshop.folder / "home").symlink_to(workshop.folder / "elsewhere")
    prepared = workshop.another_store().lookup("lake", None)
    assert prepared is not None
    assert prepared.use == use
    subprocess.run([prepared.python, "-c", ""], check=True)


@pytest.mark.parametrize("name", ["nothing", "../lake", "", ".hidden", "a/b", "x" * 5000])
def test_unknown_and_hostile_names_are_rejected(workshop: Workshop, name: str) -> None:
    """No name leads out of the folders of requirements and environments."""
    workshop.add_worker()
    for attempt in (
        lambda: workshop.store.install(name),
        lambda: workshop.store.remove(name, "", {}),
    ):
        with pytest.raises(UserError) as failure:
            attempt()
        assert failure.value.code in ("T320", "T338")


def test_a_run_may_choose_another_bundle(workshop: Workshop) -> None:
    """A bundle that exists can be chosen; one that does not is answered with those there are."""
    workshop.add_worker()
    workshop.require("--prefer-binary\n", "river")
    prepared = workshop.store.prepare("lake", BundleConfig(name="river"))
    assert prepared.use.name == "river"
    with pytest.raises(UserError, match="Bundles here: lake"):
        workshop.store.prepare("lake", BundleConfig(name="ocean"))


def test_a_worker_that_uses_the_client_can_import_it(workshop: Workshop) -> None:
    """Its own code comes first, then MOSAIC's, then a run's; no other worker has MOSAIC's."""
    package = workshop.add_worker()
    plain = workshop.store.prepare("lake", None)
    assert plain.environment(["/own"])["PYTHONPATH"] == f"{plain.code}:/own"
    manifest = package.parents[1] / "worker.toml"
    manifest.write_text(f"{manifest.read_text()}\nuses_client = true\n")
    prepared = workshop.another_store().prepare("lake", None)
    code, mosaics, own = prepared.environment(["/own"])["PYTHONPATH"].split(os.pathsep)
    assert (code, own) == (str(prepared.code), "/own")
    assert (Path(mosaics) / "mosaic" / "client" / "__init__.py").is_file()


def test_scripts_may_have_a_bundle_of_their_own(workshop: Workshop) -> None:
    """A run of a script gets it, any other run the worker's; a run that names one gets that."""
    package = workshop.add_worker()
    manifest = package.parents[1] / "worker.toml"
    manifest.write_text(f'{manifest.read_text()}\nscript_bundle = "lake_scripts"\n')
    (manifest.parent / "lake_scripts.txt").write_text("--prefer-binary\n")
    (manifest.parent / "lake_scripts.winter.txt").write_text("--prefer-binary\n")
    store = workshop.another_store()
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


def test_dependencies_that_a_package_declares(workshop: Workshop) -> None:
    """Without requirements the worker's pyproject.toml counts, conditions and extras included."""
    package = workshop.add_worker()
    (workshop.requirements / "lake.txt").unlink()
    (package.parents[1] / "pyproject.toml").write_text(
        """
[project]
dependencies = ["mosaic-worker>=0.1", "ice>=1; python_version < '3'"]
[project.optional-dependencies]
winter = ["ice; python_version < '3'"]
"""
    )
    prepared = workshop.store.prepare("lake", BundleConfig(name="lake", extras=("winter",)))
    assert prepared.use.packages == {}
    (package.parents[1] / "pyproject.toml").write_text("[project]\ndependencies = ['!']\n")
    with pytest.raises(UserError, match="not a requirement"):
        workshop.store.lookup("lake", None)


def test_requirement_files_that_include_each_other(workshop: Workshop) -> None:
    """A circle is an error of the file, not an endless loop."""
    workshop.add_worker(requires="-r lake.txt\n")
    with pytest.raises(UserError, match="includes itself"):
        workshop.store.lookup("lake", None)


def test_noise_in_requirements() -> None:
    """Comments, continued lines, blanks and the SDK itself are not part of what is asked for."""
    text = "# head\nice==1 \\\n  --hash=sha256:00\n\n  snow  # cold\nmosaic_worker==1\nurl#x\n"
    assert normalize_lines(text) == ["ice==1 --hash=sha256:00", "snow", "url#x"]


def test_an_edited_worker_gets_a_new_copy_and_keeps_its_packages(workshop: Workshop) -> None:
    """A run keeps the code it began with; editing reinstalls nothing."""
    package = workshop.add_worker()
    (package / "tests").mkdir()
    (package / "tests" / "test_it.py").write_text("")
    (package / "map.txt").write_text("SFFG")
    first = workshop.store.prepare("lake", None)
    (package / "__main__.py").write_text("print('edited')")
    second = workshop.store.lookup("lake", None)
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


def test_a_damaged_copy_is_made_again(workshop: Workshop) -> None:
    """A copy that was changed, or a power cut emptied, is not used."""
    workshop.add_worker()
    prepared = workshop.store.prepare("lake", None)
    (prepared.code / "lake" / "__main__.py").write_text("")
    assert workshop.store.lookup("lake", None) == prepared
    assert (prepared.code / "lake" / "__main__.py").read_text()


def test_unused_copies_are_removed(workshop: Workshop) -> None:
    """Old copies go; those of runs, of the workers as they are now, and fresh ones stay."""
    package = workshop.add_worker()
    copies = []
    for content in ("one", "two", "three", "four"):
        (package / "__init__.py").write_text(f"# {content}")
        copies.append(workshop.store.prepare("lake", None).code)
    unused, used, fresh, current = copies
    unfinished = workshop.home.worker_code / ".copying-lake-0-1"
    unfinished.mkdir()
    for path in (unused, used, current, unfinished):
        os.utime(path, LONG_AGO)
    workshop.store.clean({}, {used.name})
    assert set(workshop.home.worker_code.iterdir()) == {used, fresh, current}

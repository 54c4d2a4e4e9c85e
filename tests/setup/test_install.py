"""Setting up, starting again, and bringing up to date; with real venv and pip, and no network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.setup.conftest import Checkout

pytestmark = pytest.mark.process


def test_fresh_checkout_sets_itself_up_and_runs(checkout: Checkout) -> None:
    """The first start installs what is pinned, by the PIP_* settings, and stdout stays clean."""
    checkout.use_real_venvs()
    finished = checkout.start("one", "two words")

    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert answer["arguments"] == ["one", "two words"]
    assert answer["dependency"] == "1.0"
    assert "Ready in" in finished.stderr


def test_second_start_is_silent_and_runs_no_pip(ready: Checkout) -> None:
    """A start with nothing to do says nothing and leaves the log of the last set-up alone."""
    finished = ready.start()

    assert finished.returncode == 0
    assert finished.stderr == ""
    assert not ready.log.exists()


def test_touched_files_with_equal_text_need_no_pip(ready: Checkout) -> None:
    """A git checkout that only changes file times costs nothing."""
    for file in (*ready.root.rglob("*.txt"), *ready.root.rglob("pyproject.toml")):
        file.touch()

    assert ready.start().stderr == ""
    assert not ready.log.exists()


def test_works_from_any_folder_and_through_a_link(ready: Checkout, tmp_path: Path) -> None:
    """Neither the current folder nor what lies in it, nor a link to the command, matters."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("mosaic.py", "tiny_dependency.py", "json.py"):
        (elsewhere / name).write_text("raise SystemExit('wrong module')\n", "utf-8")
    link = elsewhere / "mosaic"
    link.symlink_to(ready.root / "mosaic")

    assert ready.works(cwd=elsewhere)["dependency"] == "1.0"
    finished = ready.bash(f'cd "{elsewhere}" && ./mosaic && bash mosaic')
    assert finished.returncode == 0, finished.stderr
    assert len(finished.stdout.splitlines()) == 2


def test_changed_pin_is_updated_in_place(ready: Checkout) -> None:
    """Another version in the requirements is installed into the same environment."""
    made_at = (ready.venv / "pyvenv.cfg").stat().st_mtime_ns
    ready.require("base", "tiny_dependency==2.0")

    assert ready.works()["dependency"] == "2.0"
    assert (ready.venv / "pyvenv.cfg").stat().st_mtime_ns == made_at
    assert ready.start().stderr == ""


def test_moved_checkout_is_set_up_again(ready: Checkout) -> None:
    """An environment names its place in many files, so a moved checkout makes a new one."""
    moved = ready.root.with_name("moved here")
    shutil.move(ready.root, moved)
    ready.root = moved

    finished = ready.start()

    assert finished.returncode == 0, finished.stderr
    assert "moved" in finished.stderr
    assert str(moved) in (ready.venv / "bin" / "pip").read_text("utf-8")


def test_environment_whose_python_is_gone_is_rebuilt(ready: Checkout) -> None:
    """After an upgrade of the system removed its Python, the next start repairs the environment."""
    interpreter = ready.venv / "bin" / "python"
    interpreter.unlink()
    interpreter.symlink_to("/nowhere/python3.11")

    finished = ready.start()

    assert finished.returncode == 0, finished.stderr
    assert "its Python no longer runs" in finished.stderr


def test_environment_not_created_by_mosaic_is_kept(checkout: Checkout) -> None:
    """A .venv that was made by hand is moved aside, never deleted."""
    checkout.venv.mkdir()
    (checkout.venv / "precious").write_text("mine", "utf-8")

    finished = checkout.start()

    assert finished.returncode == 0, finished.stderr
    (kept,) = checkout.root.glob(".venv-yours-*/.venv/precious")
    assert kept.read_text("utf-8") == "mine"
    assert str(kept.parent) in finished.stderr


def test_damaged_record_leads_to_a_rebuild(ready: Checkout) -> None:
    """A record cut short by a power failure is not believed."""
    (ready.venv / "mosaic-base.ready").write_bytes(b"")

    assert ready.works()["dependency"] == "1.0"
    assert ready.start().stderr == ""


def test_larger_profile_shares_the_environment(ready: Checkout) -> None:
    """The checks are added to .venv, and ./mosaic stays ready; a third profile has its own."""
    ready.offer("tiny_tool", "1.0")
    ready.require("dev", "tiny_tool==1.0")

    finished = ready.bash('set_up dev; "$venv/bin/python" -c "import tiny_tool, tiny_dependency"')

    assert finished.returncode == 0, finished.stderr
    assert ready.start().stderr == ""
    assert ready.bash("set_up dev").stderr == ""


def test_failed_download_names_cause_log_and_remedy(checkout: Checkout) -> None:
    """If pip fails, the cause, the log and a remedy are printed; the next start repairs it."""
    checkout.require("base", "tiny_dependency==9.9")

    finished = checkout.start()

    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "ERROR: No matching distribution found for tiny_dependency==9.9" in finished.stderr
    assert str(checkout.log) in finished.stderr
    assert "then start again" in finished.stderr
    checkout.require("base", "tiny_dependency==1.0")
    assert checkout.works()["dependency"] == "1.0"


def test_modules_of_another_python_do_not_count_as_installed(
    ready: Checkout, tmp_path: Path
) -> None:
    """A PYTHONPATH with a package of the same name does not keep pip from installing ours."""
    metadata = tmp_path / "tiny_dependency-2.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: tiny_dependency\nVersion: 2.0\n", "utf-8")
    ready.require("base", "tiny_dependency==2.0")

    ready.works(PYTHONPATH=str(tmp_path))

    assert ready.works()["dependency"] == "2.0"


def test_read_only_checkout_is_explained(checkout: Checkout) -> None:
    """Without write permission there is an error message, and no traceback."""
    (checkout.root / ".venv-setup").write_text("in the way", "utf-8")

    finished = checkout.start()

    assert finished.returncode == 1
    assert "Traceback" not in finished.stderr
    assert "is writable" in finished.stderr


def test_named_python_is_used_and_kept(checkout: Checkout, pythons: dict[str, str]) -> None:
    """MOSAIC_PYTHON decides, also against an environment made with another, and then sticks."""
    first = checkout.works()["python"]
    others = [path for name, path in pythons.items() if name != f"{first[0]}.{first[1]}"]
    if not others:
        pytest.skip("only one supported Python runs here")

    second = checkout.works(MOSAIC_PYTHON=others[0])["python"]

    assert second != first
    assert checkout.start(MOSAIC_PYTHON=others[0]).stderr == ""
    assert checkout.works()["python"] == second

"""Finding a Python that really runs, with stand-ins for interpreters that do not."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.setup.conftest import Checkout

WORKING = "echo good {version} {path}"
DEAD_SHIM = "echo 'pyenv: python: command not found' >&2; exit 127"


@pytest.fixture
def interpreters(tmp_path: Path) -> Path:
    folder = tmp_path / "interpreters"
    folder.mkdir()
    return folder


def stand_in(folder: Path, name: str, script: str) -> Path:
    """A program that answers as an interpreter would."""
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


def working(folder: Path, version: str) -> Path:
    name = f"python{version}"
    return stand_in(folder, name, WORKING.format(version=version, path=folder / name))


def find(
    repository: Path, *candidates: Path | str, then: str = "", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Runs find_python over these candidates instead of what this machine has."""
    script = f"""set -euo pipefail
        source "$1/setup/find_python.sh"
        shift
        given=("$@")
        list_python_candidates() {{ candidates=(${{given[@]+"${{given[@]}}"}}); }}
        {then}
        find_python
        echo "$python"
    """
    return subprocess.run(
        ["bash", "-c", script, "./mosaic", str(repository), *map(str, candidates)],
        env={"PATH": os.environ["PATH"]} | environ,
        check=False,
        capture_output=True,
        text=True,
    )


def test_dead_shims_are_passed_over(repository: Path, interpreters: Path) -> None:
    """A shim with nothing behind it and a name without a file do not end the search."""
    dead = stand_in(interpreters, "python3.11", DEAD_SHIM)
    good = working(interpreters, "3.12")

    finished = find(repository, dead, interpreters / "missing", good)

    assert finished.stdout.strip() == str(good), finished.stderr


def test_oldest_supported_version_is_preferred(repository: Path, interpreters: Path) -> None:
    """3.11 is taken even when a newer one comes first on PATH."""
    newer, preferred = working(interpreters, "3.13"), working(interpreters, "3.11")

    assert find(repository, newer, preferred).stdout.strip() == str(preferred)


def test_none_found_names_what_was_tried_and_what_to_run(
    repository: Path, interpreters: Path
) -> None:
    """Without a usable Python, the reason for each candidate and the command are printed."""
    old = stand_in(interpreters, "python3", "echo old 3.9")
    dead = stand_in(interpreters, "python3.11", DEAD_SHIM)
    no_sqlite = stand_in(interpreters, "python3.12", "echo incomplete 3.12 sqlite3, ssl")
    stand_in(interpreters, "apt-get", "exit 0")
    stand_in(interpreters, "apt-cache", "[[ $2 == python3.12-venv ]]")
    path = f"{interpreters}:{os.environ['PATH']}"

    finished = find(repository, old, dead, no_sqlite, PATH=path)

    assert finished.returncode == 1
    assert f"{old}: is Python 3.9" in finished.stderr
    assert f"{dead}: does not run" in finished.stderr
    assert f"{no_sqlite}: Python 3.12 without sqlite3, ssl" in finished.stderr
    assert "  sudo apt-get install -y python3.12 python3.12-venv\n" in finished.stderr


def test_debian_python_without_venv_gets_its_package_named(repository: Path) -> None:
    """Other users than root get the command for the missing package."""
    probe = "echo incomplete 3.11 ensurepip, venv"
    then = f"""/usr/bin/python3.11() {{ {probe}; }}
        complete_debian_python() {{ return 1; }}"""

    finished = find(repository, "/usr/bin/python3.11", then=then)

    assert finished.returncode == 1
    assert "  sudo apt-get install -y python3.11-venv\n" in finished.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages")
def test_debian_python_is_completed_when_root(repository: Path, interpreters: Path) -> None:
    """As root the missing package is installed through apt-get, and the search continues."""
    done = interpreters / "done"
    stand_in(interpreters, "apt-get", f'echo "$DEBIAN_FRONTEND $*" >>"{done}"')
    then = f"""/usr/bin/python3.11() {{
            if [[ -e {done} ]]; then echo good 3.11 /usr/bin/python3.11
            else echo incomplete 3.11 ensurepip; fi
        }}"""
    path = f"{interpreters}:{os.environ['PATH']}"

    finished = find(repository, "/usr/bin/python3.11", then=then, PATH=path)

    assert finished.stdout.strip() == "/usr/bin/python3.11", finished.stderr
    assert done.read_text("utf-8").splitlines() == [
        "noninteractive update",
        "noninteractive install -y --no-install-recommends python3.11-venv",
    ]


def test_python_chosen_by_hand_is_the_only_candidate(checkout: Checkout) -> None:
    """A MOSAIC_PYTHON that does not run is an error, not a reason to take another."""
    finished = checkout.start(MOSAIC_PYTHON="/nowhere/python3.11")

    assert finished.returncode == 1
    assert "/nowhere/python3.11: does not run" in finished.stderr
    assert "MOSAIC_PYTHON" in finished.stderr
    assert not checkout.venv.exists()


def test_this_machine_has_a_python_that_is_found(repository: Path) -> None:
    """The real search, over what is really here, ends with an interpreter that runs."""
    script = 'set -euo pipefail; source "$1/setup/find_python.sh"; find_python; echo "$python"'
    environ = {name: value for name, value in os.environ.items() if name != "MOSAIC_PYTHON"}
    found = subprocess.run(
        ["bash", "-c", script, "./mosaic", str(repository)],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()

    subprocess.run(
        [found, "-c", "import ensurepip, sqlite3, sys; assert sys.version_info > (3, 11)"],
        check=True,
    )

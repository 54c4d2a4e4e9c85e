"""Every import contract fires: one forbidden import at a time in a copy of the packages."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
WORKERS = ("echo_worker", "session_worker", "cleanrl_worker", "sweep_worker", "spade_bdi_rl_worker")
SOURCES = ("src", "worker_sdk/src", *(f"workers/{worker}/src" for worker in WORKERS))


def contracts() -> dict[str, tuple[str, list[str], list[str]]]:
    """Name, sources and forbidden modules of each contract, by its identifier."""
    parser = configparser.ConfigParser()
    parser.read(REPOSITORY / ".importlinter", "utf-8")
    prefix = "importlinter:contract:"
    return {
        section.removeprefix(prefix): (
            parser[section]["name"],
            parser[section]["source_modules"].split(),
            parser[section]["forbidden_modules"].split(),
        )
        for section in parser.sections()
        if section.startswith(prefix)
    }


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in SOURCES:
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    shutil.copy(REPOSITORY / ".importlinter", tmp_path)
    return tmp_path


def lint(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(str(root / folder) for folder in SOURCES)
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo", *options],
        cwd=root,
        env=os.environ | {"PYTHONPATH": search, "COLUMNS": "200"},
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_code_keeps_every_contract(copy: Path) -> None:
    """What is in the repository obeys the dependency table."""
    finished = lint(copy)

    assert finished.returncode == 0, finished.stdout


def test_every_forbidden_import_breaks_its_contract(copy: Path) -> None:
    """Each pair of source and forbidden module is reported under the contract's name."""
    expected = contracts()
    for _, sources, forbidden in expected.values():
        for source in sources:
            (folder,) = [
                path
                for root in SOURCES
                if (path := copy / root / source.replace(".", "/")).exists()
            ]
            for module in forbidden:
                (folder / f"{breaking(module)}.py").write_text(f"import {module}\n", "utf-8")

    finished = lint(copy)

    assert finished.returncode == 1
    reports = sections(finished.stdout)
    for name, sources, forbidden in expected.values():
        assert f"{name} BROKEN" in finished.stdout
        for source in sources:
            for module in forbidden:
                assert f"{source}.{breaking(module)} -> {module}" in reports[name]


def breaking(module: str) -> str:
    """The module that imports the forbidden one."""
    return f"breaks_{module.replace('.', '_')}"


def sections(output: str) -> dict[str, str]:
    """What import-linter reports of each broken contract, by its name."""
    lines = output.partition("Broken contracts")[2].splitlines()
    found: dict[str, str] = {}
    name = ""
    for line, underline in zip(lines, [*lines[1:], ""], strict=True):
        if underline and set(underline) == {"-"} and len(underline) == len(line):
            name = line
        found[name] = found.get(name, "") + line + "\n"
    return found


def test_every_package_has_a_contract() -> None:
    """A new package cannot escape the table: it must appear as the source of a contract."""
    covered = {source for _, sources, _ in contracts().values() for source in sources}
    packages = {
        f"{root.name}.{folder.parent.name}"
        for root in (REPOSITORY / "src" / "mosaic", REPOSITORY / "src" / "gym_gui")
        for folder in root.glob("*/__init__.py")
    }
    unlimited = {"mosaic.cli"}  # may import all of mosaic

    assert packages - covered == unlimited

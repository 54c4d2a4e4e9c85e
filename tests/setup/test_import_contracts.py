"""Every import contract fires: forbidden imports in a copy of the packages."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from itertools import combinations, permutations
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
WORKERS = ("echo_worker", "session_worker", "cleanrl_worker", "sweep_worker", "spade_bdi_rl_worker")
SOURCES = ("src", "worker_sdk/src", *(f"workers/{worker}/src" for worker in WORKERS))
WINDOW = REPOSITORY / "src" / "gym_gui"
DOORS = ("view", "model", "feed")
_PREFIX = "importlinter:contract:"


def configuration() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(REPOSITORY / ".importlinter", "utf-8")
    return parser


def contracts() -> dict[str, tuple[str, list[str], list[str]]]:
    """Name, sources and forbidden modules of each contract that forbids, by its identifier."""
    parser = configuration()
    return {
        section.removeprefix(_PREFIX): (
            parser[section]["name"],
            parser[section]["source_modules"].split(),
            [
                module
                for pattern in parser[section]["forbidden_modules"].split()
                for module in expanded(pattern)
            ],
        )
        for section in parser.sections()
        if section.startswith(_PREFIX) and parser[section]["type"] == "forbidden"
    }


def lines_of(contract: str, option: str) -> list[str]:
    """The lines of an option, without comments."""
    text = configuration()[_PREFIX + contract][option]
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def expanded(pattern: str) -> list[str]:
    """The modules that `gym_gui.*.feed` stands for."""
    before, star, after = pattern.partition(".*.")
    if not star:
        return [pattern]
    folders = sorted((REPOSITORY / "src" / before).iterdir())
    found = [f"{before}.{folder.name}.{after}" for folder in folders if has_door(folder, after)]
    assert found
    return found


def has_door(room: Path, door: str) -> bool:
    return (room / door).is_dir() or (room / f"{door}.py").is_file()


def rooms() -> list[str]:
    """The folders of the window that are one feature each."""
    folders = {folder.parent.name for folder in WINDOW.glob("*/__init__.py")}
    return sorted(folders - {"app", "widgets", "runtime"})


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in SOURCES:
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    shutil.copy(REPOSITORY / ".importlinter", tmp_path)
    return tmp_path


def lint(root: Path, *contract_ids: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(str(root / folder) for folder in SOURCES)
    options = [option for each in contract_ids for option in ("--contract", each)]
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo", *options],
        cwd=root,
        env=os.environ | {"PYTHONPATH": search, "COLUMNS": "200"},
        check=False,
        capture_output=True,
        text=True,
    )


def add_import(root: Path, source: str, module: str) -> str:
    """Let `source` import `module`; returns how the import is reported."""
    (place,) = [
        path
        for folder in SOURCES
        for path in (root / folder / source.replace(".", "/"),)
        if path.is_dir() or path.with_suffix(".py").is_file()
    ]
    if place.is_dir():
        name = f"breaks_{module.replace('.', '_')}"
        (place / f"{name}.py").write_text(f"import {module}\n", "utf-8")
        return f"{source}.{name} -> {module} "
    with place.with_suffix(".py").open("a", encoding="utf-8") as file:
        file.write(f"import {module}\n")
    return f"{source} -> {module} "


def test_the_code_keeps_every_contract(copy: Path) -> None:
    """What is in the repository obeys the dependency table."""
    finished = lint(copy)

    assert finished.returncode == 0, finished.stdout


def test_every_forbidden_import_breaks_its_contract(copy: Path) -> None:
    """Each pair of source and forbidden module is reported under the contract's name."""
    expected = contracts()
    added = {
        (source, module): add_import(copy, source, module)
        for source, module in dict.fromkeys(
            (source, module)
            for _, sources, forbidden in expected.values()
            for source in sources
            for module in forbidden
        )
    }

    finished = lint(copy, *expected)

    assert finished.returncode == 1
    reports = sections(finished.stdout)
    for name, sources, forbidden in expected.values():
        assert f"{name} BROKEN" in finished.stdout
        for source in sources:
            for module in forbidden:
                assert added[source, module] in reports[name]


def test_rooms_that_import_each_other_break_their_contract(copy: Path) -> None:
    """Each ordered pair of rooms is reported."""
    added = [
        add_import(copy, f"gym_gui.{room}", f"gym_gui.{other}")
        for room, other in permutations(rooms(), 2)
    ]

    finished = lint(copy, "gym_gui.rooms")

    assert finished.returncode == 1
    for each in added:
        assert each in finished.stdout


def test_every_import_from_below_breaks_the_order_of_floors(copy: Path) -> None:
    """Rooms do not import app, widgets import no room, and runtime imports neither."""
    floors = [line.split(" : ") for line in lines_of("gym_gui.floors", "layers")]
    added = [
        add_import(copy, lower, higher)
        for above, below in combinations(floors, 2)
        for higher in above
        for lower in below
    ]

    finished = lint(copy, "gym_gui.floors")

    assert finished.returncode == 1
    for each in added:
        assert each in finished.stdout


def test_every_import_from_below_breaks_the_order_of_doors(copy: Path) -> None:
    """In each room: a feed imports neither model nor view, a model imports no view."""
    added = [
        add_import(copy, f"gym_gui.{room}.{lower}", f"gym_gui.{room}.{higher}")
        for room in rooms()
        for higher, lower in combinations(DOORS, 2)
        if has_door(WINDOW / room, higher) and has_door(WINDOW / room, lower)
    ]
    assert len(added) > len(rooms())

    finished = lint(copy, "gym_gui.doors")

    assert finished.returncode == 1
    for each in added:
        assert each in finished.stdout


def test_what_waits_imports_no_shared_model(copy: Path) -> None:
    """Each module of the runtime that imports its models is reported."""
    models, waiting = lines_of("gym_gui.runtime", "layers")
    added = [
        add_import(copy, f"gym_gui.runtime.{module}", f"gym_gui.runtime.{models}")
        for module in waiting.split(" : ")
    ]

    finished = lint(copy, "gym_gui.runtime")

    assert finished.returncode == 1
    for each in added:
        assert each in finished.stdout


@pytest.mark.parametrize(
    ("contract", "folder"), [("gym_gui.doors", "charts"), ("gym_gui.runtime", "runtime")]
)
def test_a_module_without_a_place_breaks_the_contract(
    copy: Path, contract: str, folder: str
) -> None:
    """A room has three doors and nothing beside them; a module of the runtime is listed."""
    (copy / "src" / "gym_gui" / folder / "something_else.py").write_text("", "utf-8")

    finished = lint(copy, contract)

    assert finished.returncode == 1
    assert "something_else" in finished.stdout


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
    covered |= set(lines_of("gym_gui.doors", "containers"))
    covered |= set(lines_of("gym_gui.runtime", "containers"))
    packages = {
        f"{root.name}.{folder.parent.name}"
        for root in (REPOSITORY / "src" / "mosaic", WINDOW)
        for folder in root.glob("*/__init__.py")
    }
    unlimited = {"mosaic.cli"}  # may import all of mosaic

    assert packages - covered == unlimited


def test_every_room_is_in_every_contract_about_rooms() -> None:
    """A new room is limited like the others, and so is each of its doors."""
    expected = [f"gym_gui.{room}" for room in rooms()]
    by_id = contracts()

    assert sorted(lines_of("gym_gui.rooms", "modules")) == expected
    assert sorted(lines_of("gym_gui.doors", "containers")) == expected
    assert sorted(lines_of("gym_gui.floors", "layers")[1].split(" : ")) == expected
    for door in DOORS:
        present = {f"gym_gui.{room}.{door}" for room in rooms() if has_door(WINDOW / room, door)}
        assert present <= set(by_id[f"gym_gui.{door}s"][1])


def test_views_import_nothing_that_waits() -> None:
    """Every module of the runtime but its models is forbidden to views and widgets."""
    waiting = {f"gym_gui.runtime.{path.stem}" for path in (WINDOW / "runtime").glob("*.py")}

    assert waiting - {"gym_gui.runtime.__init__"} <= set(contracts()["gym_gui.views"][2])

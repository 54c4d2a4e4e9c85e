"""The pinned files: complete, in step with their sources, and free of any one machine."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "requirements"
WORKERS = ("cleanrl", "corl", "echo", "llm", "session", "spade_bdi_rl", "sweep")
PIN = re.compile(r"^([a-z0-9-]+)==([^ +;]+) +# via ")


def names_in(text: str) -> set[str]:
    """The packages that a hand-written file or a list of dependencies names."""
    found = (re.match(r"[A-Za-z][A-Za-z0-9._-]*", line) for line in text.splitlines())
    return {re.sub(r"[._-]+", "-", match[0]).lower() for match in found if match}


def pins_in(name: str) -> dict[str, str]:
    lines = (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return {match[1]: match[2] for line in lines if (match := PIN.match(line))}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_every_line_is_a_comment_or_an_exact_pin(path: Path) -> None:
    """No index, no folder, no host, no range: the files install the same anywhere."""
    for line in path.read_text("utf-8").splitlines():
        assert not line or line.startswith("#") or PIN.match(line), line


@pytest.mark.parametrize("source", sorted(FOLDER.glob("*.in")), ids=lambda path: path.stem)
def test_every_requirement_is_pinned(source: Path) -> None:
    """A dependency added to a *.in file was locked too."""
    assert names_in(source.read_text("utf-8")) <= set(pins_in(source.stem))


def test_base_pins_what_the_program_declares() -> None:
    """A dependency added to pyproject.toml was locked too."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["gui"]]

    assert names_in("\n".join(declared)) <= set(pins_in("base"))


def test_every_worker_bundle_has_its_file() -> None:
    """One pinned file for each worker."""
    assert {path.stem for path in FOLDER.glob("*_worker.txt")} == {
        f"{name}_worker" for name in WORKERS
    }


@pytest.mark.parametrize("profile", ["dev", "bench"])
def test_profiles_agree_with_base(profile: str) -> None:
    """What is installed on top of base asks for no other version of anything."""
    base, added = pins_in("base"), pins_in(profile)

    assert {name: added[name] for name in base.keys() & added.keys()}.items() <= base.items()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_no_bundle_mixes_what_must_not_meet(path: Path) -> None:
    """pygame and pygame-ce share a module; torch is the one build without GPU libraries."""
    pins = pins_in(path.stem)

    assert not {"pygame", "pygame-ce"} <= pins.keys()
    assert pins.get("torch", "2.13.0") == "2.13.0"
    assert not [name for name in pins if name.startswith(("nvidia-", "cuda-", "triton"))]

"""The walks of docs/architecture.md name files and functions that exist, and stay short."""

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SOURCES = ("src", "src/mosaic", "worker_sdk/src")
_ROW = re.compile(r"^\| \d+ \| \w* ?\| (?P<file>[^|]*) \| (?P<text>[^|]*) \|$", re.MULTILINE)


def _read_walk(heading: str) -> list[tuple[Path, str]]:
    """Return file and function (or command) of each row; an empty cell repeats the file above."""
    page = (_ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows: list[tuple[Path, str]] = []
    for row in _ROW.finditer(section):
        name = row["file"].strip(" `")
        file = _find_file(name) if name else rows[-1][0]
        function = re.search(r"`([\w.]+)`", row["text"])
        assert function, row["text"]
        rows.append((file, function[1]))
    return rows


def _find_file(name: str) -> Path:
    found = [path for source in _SOURCES if (path := _ROOT / source / name).is_file()]
    assert len(found) == 1, name
    return found[0]


@pytest.mark.parametrize(
    ("heading", "max_rows"),
    [("One step from `env.step` to the screen", 20), ("Pausing a session", 10)],
)
def test_a_walk_is_true_and_short(heading: str, max_rows: int) -> None:
    """A renamed function or a further layer must be noticed on the page."""
    rows = _read_walk(heading)
    assert 5 <= len(rows) <= max_rows
    for file, name in rows:
        source = file.read_text(encoding="utf-8")
        is_function = re.search(rf"def {name.rpartition('.')[2]}\b", source)
        is_command = f'"{name}"' in source
        assert is_function or is_command, f"{file.name}: {name}"

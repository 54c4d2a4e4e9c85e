"""The page about environments is correct."""

import re
from pathlib import Path

import pytest

from mosaic.envs import catalog

_PAGE = Path(__file__).parents[2] / "docs" / "user-guide" / "environments.md"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints a problem of a map, and a map."""
    for code in re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL):
        exec(compile(code, str(_PAGE), "exec"), {})  # noqa: S102 - our own page
    printed = capsys.readouterr().out
    assert "has no path" in printed
    assert "'desc': ['S" in printed


def test_the_page_names_every_family() -> None:
    """With the command that installs its extra, if it has one."""
    text = _PAGE.read_text().lower()
    for family in catalog.families():
        assert f"| {family.title.lower()} |" in text
        assert not family.extra or f"`{family.install_command}`" in text

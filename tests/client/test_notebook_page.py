"""The code on the notebook page runs."""

import re
from pathlib import Path

import pytest

from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_PAGE = Path(__file__).parents[2] / "docs" / "user-guide" / "notebooks.md"


def test_notebook_page_runs(daemon: DaemonUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook whose home is set."""
    monkeypatch.setenv("MOSAIC_HOME", str(daemon.home.path))
    monkeypatch.chdir(daemon.folder)
    blocks = re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    code = compile("\n".join(blocks), str(_PAGE), "exec")
    exec(code, {})  # noqa: S102 - our own page
    assert (daemon.folder / "best.tar.gz").stat().st_size > 0

"""The actor in docs/writing-an-actor.md works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from workers.session_worker.tests.session_process import StartSession

from session_worker.scripts import SCRIPTS

pytestmark = pytest.mark.process

_PAGE = Path(__file__).parents[3] / "docs" / "writing-an-actor.md"
_FILE = re.compile(r'^```\w+ title="(?P<path>[^"]+)"\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page."""
    for block in _FILE.finditer(_PAGE.read_text()):
        (tmp_path / block["path"]).write_text(block["text"])
    return tmp_path


def test_the_actor_on_the_page_balances_the_pole(start: StartSession, folder: Path) -> None:
    """Every episode has the return that the page states."""
    actor = f"scripted:{folder}/balancer.py:Balancer"
    session = start("scripted", "CartPole-v1", mode="evaluate", actor=actor, episodes=3)
    assert session.wait() == 0, session.log.read_text()
    assert [episode["return"] for episode in session.events("episode")] == [500.0] * 3


def test_the_test_on_the_page_passes(folder: Path) -> None:
    """With the command on the page."""
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "test_balancer"],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_page_names_every_built_in_script() -> None:
    """A new script must be documented."""
    assert set(re.findall(r"`scripted:(\w+)` \|", _PAGE.read_text())) == set(SCRIPTS)

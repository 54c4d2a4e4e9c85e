"""The tests of agents, which need SPADE: all files in one process of the bundle's Python."""

from pathlib import Path

import pytest

from tests.support.unittest_files import run_unittest_files

pytestmark = [pytest.mark.process, pytest.mark.timeout(0)]  # each of its tests has a limit

FOLDER = Path(__file__).parents[3] / "workers" / "spade_bdi_rl_worker" / "tests" / "with_spade"
FILES = sorted(FOLDER.glob("test_*.py"))


@pytest.mark.long
def test_with_spade(spade_python: Path, inside_spade: dict[str, str], tmp_path: Path) -> None:
    """Every test passes, and no warning is left."""
    run_unittest_files(spade_python, FILES, inside_spade, tmp_path)

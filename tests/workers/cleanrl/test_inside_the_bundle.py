"""The tests of learners, which need torch: all files, in two processes of the bundle's Python."""

from pathlib import Path

import pytest

from tests.support.unittest_files import run_unittest_files

pytestmark = [pytest.mark.process, pytest.mark.timeout(0)]  # each of its tests has a limit

FOLDER = Path(__file__).parents[3] / "workers" / "cleanrl_worker" / "tests" / "with_torch"
FILES = sorted(FOLDER.rglob("test_*.py"))
PARTS = 2
"""Every process imports torch; more than one keeps all cores busy."""


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_with_torch(
    part: int, cleanrl_python: Path, inside_environment: dict[str, str], tmp_path: Path
) -> None:
    """Every test passes, and no warning is left."""
    search = f"{FOLDER}:{FOLDER.parents[2]}:{inside_environment['PYTHONPATH']}"
    environment = {**inside_environment, "PYTHONPATH": search}
    run_unittest_files(cleanrl_python, FILES[part::PARTS], environment, tmp_path)

"""The tests of learners, which need torch: each file in a process of the bundle's Python."""

import subprocess
from pathlib import Path

import pytest

# Whoever comes first installs a bundle.
pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

FOLDER = Path(__file__).parents[3] / "workers" / "cleanrl_worker" / "tests" / "with_torch"


@pytest.mark.parametrize(
    "name", sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("test_*.py"))
)
def test_with_torch(
    name: str, cleanrl_python: Path, inside_environment: dict[str, str], tmp_path: Path
) -> None:
    """Every test of the file passes, and no warning is left."""
    search = f"{FOLDER}:{FOLDER.parents[2]}:{inside_environment['PYTHONPATH']}"
    done = subprocess.run(
        [cleanrl_python, "-W", "error::UserWarning", FOLDER / name],
        cwd=tmp_path,
        env={**inside_environment, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr[-6000:] + done.stdout[-2000:]
    assert "Ran 0 tests" not in done.stderr

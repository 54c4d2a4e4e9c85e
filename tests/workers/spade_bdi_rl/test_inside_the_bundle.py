"""The tests of agents, which need SPADE: each file in a process of the bundle's Python."""

import subprocess
from pathlib import Path

import pytest

# Whoever comes first installs a bundle.
pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]

FOLDER = Path(__file__).parents[3] / "workers" / "spade_bdi_rl_worker" / "tests" / "with_spade"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("test_*.py")))
def test_with_spade(
    name: str, spade_python: Path, inside_spade: dict[str, str], tmp_path: Path
) -> None:
    """Every test of the file passes, and no warning is left."""
    done = subprocess.run(
        [spade_python, "-W", "error::UserWarning", FOLDER / name],
        cwd=tmp_path,
        env=inside_spade,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr[-6000:] + done.stdout[-2000:]
    assert "Ran 0 tests" not in done.stderr

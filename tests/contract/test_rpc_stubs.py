"""The generated code of the control plane is that of `proto/trainer.proto`."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "rpc_stubs.py"


@pytest.mark.process
def test_in_step() -> None:
    """Whoever changes the proto has generated the code again."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

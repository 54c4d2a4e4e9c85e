"""The generated code of the control plane matches `proto/trainer.proto`."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "rpc_stubs.py"


@pytest.mark.process
def test_generated_code_is_current() -> None:
    """The code was generated again after each change of the proto file."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

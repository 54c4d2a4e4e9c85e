"""Fake machines: folders for `/proc`, `/sys` and `/dev` with the files of a test."""

import stat
import textwrap
from pathlib import Path

import pytest

from mosaic.trainer.machine.machine import Machine


class FakeMachine:
    """A root folder with files, and a `Machine` that reads them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ = {"PATH": str(root / "bin")}
        self.now = 0.0
        for name in ("proc", "sys", "dev", "bin"):
            (root / name).mkdir()

    def put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))

    def put_nvidia_smi(self, script: str) -> None:
        """Write a shell script as `nvidia-smi`."""
        self.put("bin/nvidia-smi", f"#!/bin/sh\n{textwrap.dedent(script)}")
        (self.root / "bin" / "nvidia-smi").chmod(stat.S_IRWXU)

    def machine(self, cpus: int = 8) -> Machine:
        return Machine(
            proc=self.root / "proc",
            sys=self.root / "sys",
            dev=self.root / "dev",
            environ=self.environ,
            affinity=lambda: range(cpus),
            clock=lambda: self.now,
        )


@pytest.fixture
def fake(tmp_path: Path) -> FakeMachine:
    return FakeMachine(tmp_path)

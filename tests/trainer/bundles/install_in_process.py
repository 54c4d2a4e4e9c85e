"""Installs the bundle of the worker `lake`; a test starts this as a process to kill."""

import sys
from pathlib import Path

from tests.trainer.bundles.conftest import Workshop

if __name__ == "__main__":
    prepared = Workshop(Path(sys.argv[1])).store.prepare("lake", None)
    sys.stdout.write(prepared.use.hash)

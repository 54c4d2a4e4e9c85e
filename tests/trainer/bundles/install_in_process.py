"""Install the bundle of the worker `lake`; a test kills this process."""

import sys
from pathlib import Path

from tests.trainer.bundles.conftest import Sandbox

if __name__ == "__main__":
    prepared = Sandbox(Path(sys.argv[1])).store.prepare("lake", None)
    sys.stdout.write(prepared.use.hash)

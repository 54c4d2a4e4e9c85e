"""Recorded by `test_supervisor.py`: a worker writes its lines and exits under its supervisor."""

import subprocess
import sys
from pathlib import Path

from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.processes.launcher import SUPERVISOR
from tests.hostile.power_cut.recording import mark

RUN = "01J00000000000000000000000"
EXIT_CODE = 3
LINES = 40
_WORKER = f"""
n=0
while [ $n -lt {LINES} ]; do
    printf '{{"line": %d, "text": "%0300d"}}\\n' $n $n
    n=$((n + 1))
done
exit {EXIT_CODE}
"""


def main(root: Path) -> None:
    run: RunDirectory = Home(root / "home").run(RUN)
    for folder in (run.path, run.supervisor_folder):
        folder.mkdir(parents=True)
    command: list[str | Path] = [
        sys.executable,
        "-I",
        "-S",
        SUPERVISOR,
        run.path,
        run.supervisor_folder,
    ]
    subprocess.run([*command, "--", "/bin/sh", "-c", _WORKER], check=True, timeout=60)
    mark("exited")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

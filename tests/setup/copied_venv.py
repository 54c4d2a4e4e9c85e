"""`python copied_venv.py FOLDER`: what `python -m venv FOLDER` does, from a copy made once.

`venv` compiles pip's sources each time, which takes seconds of processor time. The copy is an
environment that the real `venv` made for the same Python. Stand-in checkouts use this script.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / ".venv-setup" / "venvs-for-tests"


def template() -> Path:
    """The environment to copy; made by the first process that needs it."""
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    made = TEMPLATES / sys.version.split()[0]
    with (TEMPLATES / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            unfinished = TEMPLATES / "unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", unfinished], check=True)
            unfinished.rename(made)
    return made


def copy_to(folder: Path) -> None:
    """Copy the environment; its scripts name the Python of `folder`, as if made there."""
    shutil.copytree(template(), folder, symlinks=True, dirs_exist_ok=True)
    made_in, copied_to = (os.fsencode(path) for path in (TEMPLATES / "unfinished", folder))
    for script in (folder / "bin").iterdir():
        if not script.is_symlink():
            script.write_bytes(script.read_bytes().replace(made_in, copied_to))


if __name__ == "__main__":
    copy_to(Path(sys.argv[1]))

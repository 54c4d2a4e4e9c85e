"""The page of log codes matches the sources."""

import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SCRIPT = _ROOT / "setup" / "log_codes.py"
_PAGE = _ROOT / "docs" / "log-codes.md"


def test_the_page_is_current() -> None:
    """Fails with the command to run if a code was added or changed."""
    check = subprocess.run(
        [sys.executable, _SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr


def test_every_code_is_documented() -> None:
    """No code is used in a way that the page cannot explain."""
    listed = dict(re.findall(r"\| `(\w+)` \| (.*?) \| `", _PAGE.read_text()))
    used = {
        code
        for folder in ("src", "worker_sdk/src", "workers")
        for path in (_ROOT / folder).rglob("*.py")
        if "tests" not in path.parts
        for code in re.findall(r"[\"'](?:f?)((?:LOG|[TCW])\d{3})\b", path.read_text())
    }
    assert used == set(listed)
    assert all(listed.values()), [code for code, text in listed.items() if not text]


def test_codes_are_unique() -> None:
    """Two modules never share a code."""
    rows = re.findall(r"\| `(\w+)` \|", _PAGE.read_text())
    assert len(rows) == len(set(rows))

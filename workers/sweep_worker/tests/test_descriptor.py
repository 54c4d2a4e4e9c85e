"""The worker's descriptor needs neither Optuna nor MOSAIC."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

_ROOT = Path(__file__).parents[3]
_DESCRIBE = """
import runpy, sys
sys.path[:0] = [{worker!r}, {sdk!r}]
sys.argv = ["sweep_worker", "--describe"]
runpy.run_module("sweep_worker", run_name="__main__")
"""


def test_describe_needs_only_the_standard_library() -> None:
    """It works before the bundle is installed."""
    code = _DESCRIBE.format(
        worker=str(_ROOT / "workers/sweep_worker/src"), sdk=str(_ROOT / "worker_sdk/src")
    )
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=True, stdout=subprocess.PIPE, timeout=60
    )
    described = json.loads(result.stdout)
    assert (described["worker"], described["modes"]) == ("sweep_worker", ["sweep"])
    names = [parameter["name"] for parameter in described["algorithms"][0]["parameters"]]
    assert {"trials", "sampler", "pruner", "metric", "parallel", "seeds"} <= {*names}

"""The example of the Spade BDI worker in docs/writing-a-worker.md works."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mosaic.contract.decode import decode

pytestmark = pytest.mark.process

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "writing-a-worker.md"
_WORK = """
from mosaic_worker import Algorithm, Descriptor, main

def work(run):
    steps = []
    assert learn_batch(run, lambda: steps.append(1), 10)
    publish_table(run, [[0.0, 0.5], [0.0, 0.0]], len(steps))
    publish_beliefs(run, ["episodes(10)"], [], "train(10)", "practise", 0.5)
    run.request_stop("enough")
    assert not learn_batch(run, lambda: steps.append(1), 10)

about = Descriptor("example", "Example", "1", algorithms=(Algorithm("q_learning", "Q"),))
raise SystemExit(main(about, work))
"""


def test_the_second_example_works(tmp_path: Path) -> None:
    """Its lines are events of the protocol, and a batch ends when the run is stopped."""
    section = _PAGE.read_text().split("## A second example")[1].split("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    (tmp_path / "example.py").write_text("\n\n".join([*blocks, _WORK]))
    (tmp_path / "config.json").write_text(json.dumps({"algo": "q_learning"}))

    done = subprocess.run(
        [sys.executable, "example.py", "--config", "config.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT / "worker_sdk" / "src")},
        capture_output=True,
        check=False,
    )

    for line in done.stdout.splitlines():
        decode(line)
    lines = {each["type"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert lines["policy"]["actions"] == [1, None], done.stderr.decode()
    assert lines["bdi"]["goals"] == ["train(10)"]
    assert lines["bye"]["outcome"] != "failed", lines["bye"]

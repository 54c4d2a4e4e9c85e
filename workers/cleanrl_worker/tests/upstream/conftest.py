"""Starts the worker with scripts written by tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workers.cleanrl_worker.tests.upstream.script_process import (
    HEAD,
    ScriptUnderTest,
    StartScript,
)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartScript]:
    """Start a run of a script with this body, each in its own folder."""
    started: list[ScriptUnderTest] = []

    def start_script(body: str, **config: Any) -> ScriptUnderTest:
        folder = tmp_path / f"run{len(started)}"
        folder.mkdir()
        script = tmp_path / f"script{len(started)}.py"
        script.write_text(HEAD + body)
        started.append(ScriptUnderTest(folder, script, config))
        return started[-1]

    yield start_script
    for worker in started:
        worker.__exit__(None, None, None)

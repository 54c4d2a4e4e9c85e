"""Starts and stops real session workers."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workers.session_worker.tests.session_process import SessionProcess, StartSession


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartSession]:
    """Start a session: `start("random", "CartPole-v1", params={…}, seed=…)`."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))
    started: list[SessionProcess] = []

    def start_session(algo: str, env_id: str, **config: Any) -> SessionProcess:
        folder = tmp_path / f"session-{len(started)}"
        folder.mkdir()
        document = {"algo": algo, "env_id": env_id, "seed": 5, **config}
        (folder / "config.json").write_text(json.dumps(document))
        session = SessionProcess(["-m", "session_worker", "--config", "config.json"], folder)
        started.append(session)
        return session

    yield start_session
    for session in started:
        session.__exit__(None, None, None)

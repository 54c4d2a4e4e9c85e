"""A worker passes `play` an actor, or a function or class that creates one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actor_slot import to_valid_action
from mosaic_worker.testing import WorkerProcess

_WORKER = """
import sys
from mosaic_worker import Algorithm, Descriptor, Environments, main
from mosaic_worker.play import PARAMETERS, play

class Policy:
    def __init__(self, env=None):
        self.is_open = True

    def act(self, observation, info):
        assert self.is_open
        return 2

    def close(self):
        assert self.is_open
        self.is_open = False
        print("closed", flush=True)

algorithm = Algorithm(id="mine", label="Mine", parameters=PARAMETERS)
about = Descriptor(worker="w", label="W", version="1", summary="", modes=("play",),
                   algorithms=(algorithm,), environments=Environments(any=True))
sys.exit(main(about, lambda run: play(run, {policy})))
"""


def _start(policy: str, folder: Path, **config: Any) -> WorkerProcess:
    (folder / "worker.py").write_text(_WORKER.replace("{policy}", policy))
    complete = {"mode": "play", "algo": "mine", "env_id": "FrozenLake-v1", "seed": 1, **config}
    (folder / "config.json").write_text(json.dumps(complete))
    return WorkerProcess(["worker.py", "--config", "config.json"], folder)


@pytest.mark.process
def test_an_existing_actor_is_closed_once(tmp_path: Path) -> None:
    """Neither a takeover nor a change of the environment closes it."""
    with _start("Policy()", tmp_path) as worker:
        worker.wait_for("step", actor="mine")
        worker.send("set_actor", actor="human", seq=1)
        worker.wait_for("log", code="W141")
        worker.send("configure", env_kwargs={"map_name": "8x8"}, seq=2)
        worker.send("reset", seq=3)
        worker.send("set_actor", actor="mine", seq=4)
        worker.until(lambda: len(worker.events("environment")) == 2, "the new environment")
        before = len(worker.events("step"))
        worker.until(lambda: len(worker.events("step")) > before + 2, "its steps")
        assert "closed" not in worker.log.read_text()
        worker.send("stop", seq=5)
        assert worker.wait() == 0
    assert worker.log.read_text().count("closed") == 1


@pytest.mark.process
def test_a_class_creates_the_actor(tmp_path: Path) -> None:
    """It is called with the environment, like a function."""
    with _start("Policy", tmp_path, episodes=1, params={"speed": 0}) as worker:
        assert worker.wait() == 0, worker.log.read_text()
    assert {step["action"] for step in worker.events("step")} == {2}


def test_nested_lists_of_an_action_become_arrays() -> None:
    """Lists inside a dict are converted like an action that is a list."""
    stick = spaces.Box(-1.0, 1.0, (2,), np.float32)
    space = spaces.Dict({"stick": stick, "button": spaces.Discrete(2)})
    action = to_valid_action(space, {"stick": [0.5, -0.5], "button": 1})
    assert isinstance(action["stick"], np.ndarray)
    assert (action["stick"].tolist(), action["button"]) == ([0.5, -0.5], 1)
    with pytest.raises(WorkerError, match="is not an action"):
        to_valid_action(space, {"stick": [0.5, -2.0], "button": 1})

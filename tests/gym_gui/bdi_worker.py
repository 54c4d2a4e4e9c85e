"""A worker that reports two BDI agents: a coach, and a learner whose state changes per episode.

`extra_changes` more changes follow at the end, with a pause of `pause_s` after each hundred.
"""

import json
from pathlib import Path
from typing import Any

from mosaic.contract.layout import Home
from tests.trainer.workers.worker_files import write_worker

WORKER = "bdi_worker"
EPISODES, STEPS = 4, 5
_MAIN = """
import json, sys, time
from pathlib import Path

def emit(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)

def main():
    if "--describe" in sys.argv:
        print(json.dumps({
            "worker": "bdi_worker", "version": "1", "modes": ["train"], "tabs": TABS,
            "algorithms": [{"id": "bdi", "parameters": [
                {"name": "extra_changes", "type": "int", "default": 0},
                {"name": "pause_s", "type": "float", "default": 0.0},
                {"name": "has_bdi", "type": "bool", "default": True},
            ]}],
            "environments": {"any": True},
        }))
        return
    config = json.loads(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
    params = {"extra_changes": 0, "pause_s": 0.0, "has_bdi": True, **config["params"]}
    done = 0
    emit("hello", v=1, worker="bdi_worker")
    emit("environment", env_id="Bdi-v0", not_replayable="Not a real environment.")
    if params["has_bdi"]:
        emit("bdi", agent_id="coach", step=0, added=["team(learner)"], goals=["coach"])
        emit("bdi", agent_id="learner", step=0, added=["phase(explore)", "rate(0)"],
             goals=["train(4)"], intentions=[{"goal": "train(4)", "plan": "explore", "depth": 1}],
             plan="explore", confidence=0.0)
    print('{"type": "bdi", "added": 7}', flush=True)
    for episode in range(EPISODES):
        emit("episode_start", episode_id=f"e{episode}", episode=episode)
        for step in range(STEPS):
            more = {}
            if step == 2 and params["has_bdi"]:
                more = {"added": [f"rate({episode + 1})"], "removed": [f"rate({episode})"],
                        "goals": ["train(4)"], "plan": "learn", "confidence": (episode + 1) / 4,
                        "intentions": [{"goal": "train(4)", "plan": "learn", "depth": 2}]}
                emit("bdi", agent_id="learner", step=done, **more)
            emit("step", episode_id=f"e{episode}", step=step, action=0, reward=1.0,
                 terminated=step == STEPS - 1, truncated=False, bdi=more or None)
            done += 1
        emit("episode", episode_id=f"e{episode}", episode=episode, steps=STEPS,
             **{"return": float(STEPS)}, terminated=True, truncated=False)
        emit("metric", agent_id="learner", name="charts/rate", value=episode, step=done)
    for number in range(params["extra_changes"]):
        emit("bdi", agent_id="learner", step=done, added=[f"belief({number + 1})"],
             removed=[f"belief({number})"], goals=["train(4)"], plan="revise")
        if number % 100 == 99:
            time.sleep(params["pause_s"])
    emit("bye", outcome="succeeded")

main()
"""


def install_bdi_worker(folder: Path, home: Home, *, tabs: tuple[str, ...] = ()) -> None:
    """Write the worker to `folder`, for a daemon that is started later."""
    header = f"TABS, EPISODES, STEPS = {list(tabs)!r}, {EPISODES}, {STEPS}\n"
    write_worker(folder, WORKER, main=header + _MAIN, python=">=3.10")
    home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.settings.write_text(f"worker_folders = [{json.dumps(str(folder))}]\n")


def bdi_run_config(**params: Any) -> dict[str, Any]:
    """The configuration to submit."""
    return {"worker": WORKER, "algo": "bdi", "env_id": "Bdi-v0", "params": params}

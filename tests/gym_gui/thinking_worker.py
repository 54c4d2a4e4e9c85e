"""A worker that tells of two minds: a coach, and a learner that changes its mind in each episode.

`thoughts` more changes follow at the end, `pause_s` after each hundred of them.
"""

import json
from pathlib import Path
from typing import Any

from mosaic.contract.layout import Home
from tests.trainer.workers.worker_files import write_worker

WORKER = "thinking_worker"
EPISODES, STEPS = 4, 5
_MAIN = """
import json, sys, time
from pathlib import Path

def tell(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)

def main():
    if "--describe" in sys.argv:
        print(json.dumps({
            "worker": "thinking_worker", "version": "1", "modes": ["train"], "tabs": TABS,
            "algorithms": [{"id": "think", "parameters": [
                {"name": "thoughts", "type": "int", "default": 0},
                {"name": "pause_s", "type": "float", "default": 0.0},
                {"name": "is_silent", "type": "bool", "default": False},
            ]}],
            "environments": {"any": True},
        }))
        return
    config = json.loads(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
    params = {"thoughts": 0, "pause_s": 0.0, "is_silent": False, **config["params"]}
    done = 0
    tell("hello", v=1, worker="thinking_worker")
    tell("environment", env_id="Thought-v0", not_replayable="It is made up.")
    if not params["is_silent"]:
        tell("bdi", agent_id="coach", step=0, added=["team(learner)"], goals=["coach"])
        tell("bdi", agent_id="learner", step=0, added=["phase(explore)", "rate(0)"],
             goals=["train(4)"], intentions=[{"goal": "train(4)", "plan": "explore", "depth": 1}],
             plan="explore", confidence=0.0)
    print('{"type": "bdi", "added": 7}', flush=True)
    for episode in range(EPISODES):
        tell("episode_start", episode_id=f"e{episode}", episode=episode)
        for step in range(STEPS):
            more = {}
            if step == 2 and not params["is_silent"]:
                more = {"added": [f"rate({episode + 1})"], "removed": [f"rate({episode})"],
                        "goals": ["train(4)"], "plan": "learn", "confidence": (episode + 1) / 4,
                        "intentions": [{"goal": "train(4)", "plan": "learn", "depth": 2}]}
                tell("bdi", agent_id="learner", step=done, **more)
            tell("step", episode_id=f"e{episode}", step=step, action=0, reward=1.0,
                 terminated=step == STEPS - 1, truncated=False, bdi=more or None)
            done += 1
        tell("episode", episode_id=f"e{episode}", episode=episode, steps=STEPS,
             **{"return": float(STEPS)}, terminated=True, truncated=False)
        tell("metric", agent_id="learner", name="charts/rate", value=episode, step=done)
    for number in range(params["thoughts"]):
        tell("bdi", agent_id="learner", step=done, added=[f"thought({number + 1})"],
             removed=[f"thought({number})"], goals=["train(4)"], plan="think")
        if number % 100 == 99:
            time.sleep(params["pause_s"])
    tell("bye", outcome="succeeded")

main()
"""


def install_thinking_worker(folder: Path, home: Home, *, tabs: tuple[str, ...] = ()) -> None:
    """Below `folder`, and known to a daemon that is started afterwards."""
    head = f"TABS, EPISODES, STEPS = {list(tabs)!r}, {EPISODES}, {STEPS}\n"
    write_worker(folder, WORKER, main=head + _MAIN, python=">=3.10")
    home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.settings.write_text(f"worker_folders = [{json.dumps(str(folder))}]\n")


def thinking_run(**params: Any) -> dict[str, Any]:
    """What to submit."""
    return {"worker": WORKER, "algo": "think", "env_id": "Thought-v0", "params": params}

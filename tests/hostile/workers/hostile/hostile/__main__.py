"""A worker that makes one attack per run, selected by the name of the algorithm.

It writes the protocol lines itself and uses the standard library only. A `status` line reports that
the attack is prepared; the worker then waits until it is stopped, or returns.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

RUN = Path(os.environ.get("MOSAIC_RUN_DIR", "."))
SUPERVISOR = RUN.parent.parent / "supervisors" / RUN.name
RECORDS = ("started.json", "exit.json", "supervisor.lock")


def emit(**event: object) -> None:
    print(json.dumps(event), flush=True)


def step(number: int, **fields: object) -> None:
    defaults = {"episode_id": "e", "action": 0, "reward": 1.0}
    ends = {"terminated": False, "truncated": False}
    emit(type="step", step=number, **{**defaults, **ends, **fields})


def wait() -> None:
    emit(type="status", state="running", reason="ready")
    while True:
        signal.pause()


def replace_by_fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def replace_by_link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def replace_by_huge_file(path: Path) -> None:
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(8 << 30)


def replace_records(replace: "Callable[[Path], None]", folder: Path) -> None:
    for name in RECORDS:
        replace(folder / name)
    wait()


def replace_records_when_running(replace: "Callable[[Path], None]", folder: Path) -> None:
    """Wait for the test: a run whose records are destroyed earlier has not started."""
    while not (RUN / "is_running").exists():
        time.sleep(0.01)
    replace_records(replace, folder)


def overflow_returns() -> None:
    """Report finite returns whose sum is not finite."""
    for number in range(3):
        fields = {"steps": 1, "return": 1.7e308, "terminated": True, "truncated": False}
        emit(type="episode", episode_id=f"e{number}", **fields)


def start_hidden_child() -> None:
    """Start a child with its own session, no environment, no open files and another folder."""
    if os.fork() == 0:
        os.setsid()
        os.chdir("/")
        os.closerange(0, 256)
        os.execve("/bin/sleep", ["sleep", "3.14159e3"], {})  # noqa: S606 - no shell
    wait()


def write_after(change: "Callable[[Path], None]") -> None:
    """Write 100 steps, change the spool, and write 52 more once a command arrives."""
    for number in range(100):
        step(number)
    change(RUN / "telemetry.jsonl")
    emit(type="status", state="running", reason="ready")
    sys.stdin.readline()
    for number in range(100, 152):
        step(number)


def truncate_spool() -> None:
    """Write 100 steps, and once a command arrives truncate the spool and write 52 more."""
    for number in range(100):
        step(number)
    sys.stdin.readline()
    os.truncate(RUN / "telemetry.jsonl", 0)
    for number in range(100, 152):
        step(number)


def replace_by_forged_file(path: Path) -> None:
    path.rename(path.with_name("renamed.jsonl"))
    path.write_text("{}\n" * 10_000)


def share_episode_ids() -> None:
    """Report two agents with the same episode ids."""
    for number in range(3):
        for agent in ("a", "b"):
            step(0, episode_id=f"e{number}", agent_id=agent)
            fields = {"steps": 1, "return": 1.0, "agent_id": agent}
            emit(type="episode", episode_id=f"e{number}", **fields)


def suspend_the_supervisor() -> None:
    os.kill(os.getppid(), signal.SIGSTOP)
    wait()


ATTACKS: "dict[str, Callable[[], None]]" = {
    "hidden_child": start_hidden_child,
    "overflow": overflow_returns,
    "truncate_spool": truncate_spool,
    "suspended_supervisor": suspend_the_supervisor,
    "shared_episodes": share_episode_ids,
    "unlink_spool": lambda: write_after(Path.unlink),
    "replace_spool": lambda: write_after(replace_by_forged_file),
    "fifo": lambda: replace_records(replace_by_fifo, RUN),
    "link": lambda: replace_records(replace_by_link, RUN),
    "huge": lambda: replace_records(replace_by_huge_file, RUN),
    "outside_fifo": lambda: replace_records_when_running(replace_by_fifo, SUPERVISOR),
    "outside_link": lambda: replace_records_when_running(replace_by_link, SUPERVISOR),
    "outside_huge": lambda: replace_records_when_running(replace_by_huge_file, SUPERVISOR),
}


def main() -> None:
    if "--describe" in sys.argv:
        algorithms = [{"id": name} for name in ATTACKS]
        print(json.dumps({"worker": "hostile", "modes": ["train"], "algorithms": algorithms}))
        return
    config = json.loads((RUN / "config.json").read_text())
    ATTACKS[config["algo"]]()


if __name__ == "__main__":
    main()

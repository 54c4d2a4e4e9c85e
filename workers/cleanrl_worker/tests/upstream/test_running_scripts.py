"""A script's output is converted to telemetry, and every failure has a reason."""

import json
import subprocess
from pathlib import Path

import pytest
from workers.cleanrl_worker.tests.upstream.event_writing import scalar_record, text_record
from workers.cleanrl_worker.tests.upstream.script_process import StartScript, is_alive

pytestmark = pytest.mark.process

TRAINS = """
print(f"flags {args}")
for step in range(100, args.total_timesteps + 1, 100):
    print(f"global_step={step}, episodic_return=[{step / 10}]")
print("SPS: 1393")
"""


def test_printed_lines_become_metrics_and_episodes(start: StartScript) -> None:
    """With TensorBoard's tags and progress; every raw line is in the log."""
    worker = start(TRAINS, seed=5, total_timesteps=300, params={"learning_rate": 0.5})
    assert worker.wait() == 0
    log = worker.log.read_text()
    assert "seed=5, total_timesteps=300, learning_rate=0.5, track=False" in log
    assert "global_step=200, episodic_return=[20.0]" in log
    points = [(event["name"], event["value"], event["step"]) for event in worker.events("metric")]
    assert points == [
        ("charts/episodic_return", 10.0, 100),
        ("charts/episodic_return", 20.0, 200),
        ("charts/episodic_return", 30.0, 300),
        ("charts/SPS", 1393.0, 300),
    ]
    assert [event["return"] for event in worker.events("episode")] == [10.0, 20.0, 30.0]
    assert worker.events("progress")[-1]["done"] == worker.events("progress")[-1]["total"] == 300
    assert worker.bye() == {"type": "bye", "outcome": "succeeded"}


def test_event_files_add_all_curves_without_duplicates(start: StartScript) -> None:
    """Lengths are matched to returns, printed points are not repeated, and tables are kept."""
    records = (
        text_record("hyperparameters", "|param|value|")
        + scalar_record("charts/episodic_return", 10.0, 100)
        + scalar_record("charts/episodic_length", 12.0, 100)
        + scalar_record("charts/episodic_return", 20.0, 100)
        + scalar_record("charts/episodic_length", 22.0, 100)
        + scalar_record("losses/value_loss", 0.5, 128)
        + scalar_record("charts/SPS", 77.0, 128)
    )
    body = f"""
folder = f"runs/{{args.env_id}}__mine__1__1700000000"
os.makedirs(folder)
file = open(folder + "/events.out.tfevents.1700000000.host", "wb")
file.flush()
print("global_step=100, episodic_return=[10.]")
print("global_step=100, episodic_return=[20.]")
print("SPS: 70")
file.write(bytes.fromhex("{records.hex()}"))
file.close()
"""
    worker = start(body)
    assert worker.wait() == 0
    points = sorted(
        (event["name"], event["value"], event["step"]) for event in worker.events("metric")
    )
    assert points == [
        ("charts/SPS", 77.0, 128),
        ("charts/episodic_length", 12.0, 100),
        ("charts/episodic_length", 22.0, 100),
        ("charts/episodic_return", 10.0, 100),
        ("charts/episodic_return", 20.0, 100),
        ("losses/value_loss", 0.5, 128),
    ]
    episodes = [(event["return"], event["steps"]) for event in worker.events("episode")]
    assert episodes == [(10.0, 12), (20.0, 22)]
    assert (worker.folder / "reports/hyperparameters.md").read_text() == "|param|value|\n"
    kinds = {event["kind"]: event["path"] for event in worker.events("artifact")}
    assert kinds["tensorboard"] == "runs/CartPole-v1__mine__1__1700000000"


def test_files_of_a_script_are_announced(start: StartScript) -> None:
    """Models, videos with metadata, and offline folders of W&B."""
    body = """
for folder in ("runs/x", "videos/x", "wandb/offline-run-20260101_000000-abc123"):
    os.makedirs(folder)
open("runs/x/mine.cleanrl_model", "w").write("weights")
print("model saved to runs/x/mine.cleanrl_model")
open("videos/x/rl-video-episode-8.mp4", "w").write("video")
open("videos/x/rl-video-episode-8.meta.json", "w").write('{"episode_id": 8}')
"""
    worker = start(body)
    assert worker.wait() == 0
    artifacts = {event["path"]: event for event in worker.events("artifact")}
    assert artifacts["runs/x/mine.cleanrl_model"]["kind"] == "checkpoint"
    assert artifacts["videos/x/rl-video-episode-8.mp4"]["meta"] == {"episode_id": 8}
    wandb = artifacts["wandb/offline-run-20260101_000000-abc123"]
    assert wandb["meta"] == {"id": "abc123", "offline": True}


def test_the_commit_of_the_checkout_is_recorded(start: StartScript, tmp_path: Path) -> None:
    """In the log and in a report, with the flags and whether the script was modified."""
    (tmp_path / "script0.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "script0.py"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    worker = start("pass", seed=3)
    assert worker.wait() == 0
    report = json.loads((worker.folder / "reports/upstream.json").read_text())
    assert (report["commit"], report["is_dirty"]) == (commit.decode().strip(), True)
    assert report["argv"][-4:] == ["--env-id", "CartPole-v1", "--seed", "3"]
    assert report["commit"] in worker.logs("W240")[0]
    untracked = start("pass")
    assert untracked.wait() == 0
    assert "its commit is unknown" in untracked.logs("W240")[0]


def test_unreadable_lines_are_reported_once(start: StartScript) -> None:
    """An unknown format neither fails the run nor gives wrong numbers."""
    body = """
sys.stdout.buffer.write(b"\\xff\\xfe broken \\x00 bytes\\n")
sys.stdout.buffer.write(b"x" * 300_000 + b"\\n")
for step in range(1000):
    print(f"global_step={step}; episodic_return={step}?")
"""
    worker = start(body)
    assert worker.wait() == 0
    assert worker.events("metric") == worker.events("episode") == []
    first, last = worker.logs("W246")
    assert "global_step=0; episodic_return=0?" in first
    assert last.startswith("1000 lines")
    assert len(worker.logs("W247")) == 1


def test_a_silent_script_can_be_stopped(start: StartScript) -> None:
    """Also if it ignores SIGINT."""
    body = """
open("ready", "w").close()
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        open("interrupted", "w").close()
"""
    worker = start(body)
    ready = worker.folder / "ready"
    worker.until(ready.exists, "the script to be ready")
    worker.send("stop", seq=1)
    assert worker.wait() == 0
    assert (worker.folder / "interrupted").exists()
    assert worker.bye()["outcome"] == "cancelled"


def test_pausing_stops_the_script_and_its_children(start: StartScript) -> None:
    """No process runs while paused, and all continue afterwards."""
    body = """
os.fork()
path = f"ticks-{os.getpid()}"
for _ in range(100_000):
    with open(path, "a") as file:
        file.write(".")
    time.sleep(0.002)
"""
    worker = start(body)

    def sizes() -> list[int]:
        return [path.stat().st_size for path in sorted(worker.folder.glob("ticks-*"))]

    worker.until(lambda: len(sizes()) == 2 and min(sizes()) > 3, "both processes at work")
    worker.send("pause", seq=1)
    worker.wait_for("status", state="paused")
    pids = [int(path.name.partition("-")[2]) for path in worker.folder.glob("ticks-*")]

    def states() -> list[str]:
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in pids]
        return [stat.rpartition(")")[2].split()[0] for stat in stats]

    worker.until(lambda: states() == ["T", "T"], "both processes stopped")  # signals take a moment
    before = sizes()
    worker.send("resume", seq=2)
    worker.until(lambda: min(n - b for n, b in zip(sizes(), before, strict=True)) > 3, "ticks")
    worker.send("stop", seq=3)
    assert worker.wait() == 0
    assert not any(is_alive(pid) for pid in pids)


def test_leftover_children_are_stopped(start: StartScript) -> None:
    """A child that keeps the output open does not delay the end of the run."""
    body = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("orphan", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not os.path.exists("orphan") or not open("orphan").read():
    time.sleep(0.01)
print("global_step=1, episodic_return=2.0")
"""
    worker = start(body)
    assert worker.wait() == 0
    assert len(worker.events("episode")) == 1
    assert len(worker.logs("W243")) == 1
    assert not is_alive(int((worker.folder / "orphan").read_text()))


def test_a_child_that_keeps_printing_is_stopped(start: StartScript) -> None:
    """Endless output does not delay the end of the run."""
    body = """
if os.fork() == 0:
    open("orphan", "w").write(str(os.getpid()))
    while True:
        os.write(1, b"still here\\n")  # print would write the newline separately
        time.sleep(0.01)
while not os.path.exists("orphan") or not open("orphan").read():
    time.sleep(0.01)
os.write(1, b"global_step=1, episodic_return=2.0\\n")
os._exit(0)
"""
    worker = start(body)
    assert worker.wait() == 0
    assert len(worker.events("episode")) == 1
    assert len(worker.logs("W243")) == 1
    assert not is_alive(int((worker.folder / "orphan").read_text()))


def test_invalid_lengths_are_ignored(start: StartScript) -> None:
    """An unusual line does not end a training."""
    body = """
for length in ("nan", "-3", "1e300", "7"):
    print(f"global_step=5, episodic_return=1.0, episodic_length={length}")
"""
    worker = start(body)
    assert worker.wait() == 0
    assert [event["steps"] for event in worker.events("episode")] == [0, 0, 0, 7]


@pytest.mark.parametrize("fields", [{"warm_start": "abc"}, {"metadata": {"resume": True}}])
def test_a_script_cannot_resume_from_a_checkpoint(
    start: StartScript, fields: dict[str, object]
) -> None:
    """It would silently train from the start."""
    worker = start("open('started', 'w').close()", **fields)
    assert worker.wait() == 1
    assert "cannot resume from a checkpoint" in worker.bye()["error"]
    assert "Start it without" in worker.bye()["remedy"]
    assert not (worker.folder / "started").exists()


@pytest.mark.parametrize(
    ("body", "message", "remedy"),
    [
        ("print('so far so good')\nraise ValueError('bad luck')", "exit code 1", "log"),
        ("sys.exit(7)", "exit code 7. It printed nothing", "log"),
        ("import no_such_module", "exit code 1", "no_such_module"),
        ("from stable_baselines3.common import x", "exit code 1", "Start it with `--extra sb3`."),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL", "memory"),
    ],
)
def test_a_script_that_fails(start: StartScript, body: str, message: str, remedy: str) -> None:
    """The error has the exit code, the last lines and a remedy."""
    worker = start(body)
    assert worker.wait() == 1
    bye = worker.bye()
    assert bye["outcome"] == "failed"
    assert message in bye["error"]
    assert remedy in bye["remedy"]
    assert "bad luck" in bye["error"] or "ValueError" not in body


def test_a_flag_that_the_script_rejects(start: StartScript) -> None:
    """Extra arguments are passed on, and the script's own error is shown."""
    worker = start("pass", extra_args={"no_such_flag": 3})
    assert worker.wait() == 1
    assert "exit code 2" in worker.bye()["error"]
    assert "unrecognized arguments" in worker.bye()["error"]
    assert "--no-such-flag 3" in worker.bye()["remedy"]


def test_max_episodes_stops_the_script(start: StartScript) -> None:
    """Although the script does not know the limit."""
    body = """
for step in range(1_000_000):
    print(f"global_step={step}, episodic_return=1.0, episodic_length=4", flush=True)
    time.sleep(0.01)
"""
    worker = start(body, max_episodes=3)
    assert worker.wait() == 0
    assert len(worker.events("episode")) >= 3
    assert worker.events("episode")[0]["steps"] == 4
    assert worker.bye()["outcome"] == "succeeded"


def test_max_episodes_does_not_wait_for_lengths(start: StartScript) -> None:
    """CleanRL writes lengths only to the event file, minutes after printing the returns."""
    body = """
os.makedirs("runs/x")
open("runs/x/events.out.tfevents.1.host", "wb").close()
for step in range(1_000_000):
    print(f"global_step={step}, episodic_return=1.0", flush=True)
    time.sleep(0.01)
"""
    worker = start(body, max_episodes=3)
    assert worker.wait() == 0
    assert len(worker.events("episode")) >= 3
    assert len(worker.logs("W249")) == 1


def test_tracking_without_a_key_is_offline_with_a_reason(
    start: StartScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run does not wait for a key."""
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    worker = start("print(os.environ['WANDB_MODE'])", artifacts={"wandb": {"enabled": True}})
    assert worker.wait() == 0
    assert "WANDB_API_KEY is not set" in worker.logs("W242")[0]
    assert worker.log.read_text().splitlines()[-1] == "offline"

"""A recorded episode, replayed by the helper process: equal rewards, and any frame."""

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.resimulation.simulation import Keyframes
from tests.worker_sdk.helper_process import HelperProcess, Message, record_episode

pytestmark = pytest.mark.process

FAMILIES: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {"is_slippery": True}),
    ("Taxi-v4", {}),
    ("Blackjack-v1", {}),
    ("CartPole-v1", {}),
    ("Pendulum-v1", {}),
    ("LunarLander-v3", {}),
    ("BipedalWalker-v3", {}),
    ("InvertedPendulum-v5", {}),
    ("ALE/Pong-v5", {}),
    ("MiniGrid-Empty-5x5-v0", {}),
]


@pytest.fixture(scope="module", autouse=True)
def _import_packages_that_warn() -> None:
    """Import packages that warn; Box2D even crashes if the warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("gymnasium.envs.box2d", "gymnasium.envs.mujoco", "minigrid", "ale_py"):
            importlib.import_module(name)


def odd_record(**behaviour: Any) -> dict[str, Any]:
    """Return the record of an episode of 20 steps whose replay misbehaves."""
    import numpy as np  # noqa: PLC0415 - comes with the environments

    rng = np.random.default_rng(np.random.SeedSequence(3))
    length = behaviour.get("length", 20)
    return {
        "env_id": "odd_environments:Odd-v0",
        "env_kwargs": behaviour,
        "seed": 3,
        "actions": [1] * length,
        "rewards": [float(rng.random()) + 1 for _ in range(length)],
        "terminated": True,
        "truncated": False,
        "is_over": True,
        "packages": {},
    }


def verify(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Verify the record, and return the last message about the comparison."""
    with HelperProcess(folder, record, "--verify") as helper:
        messages = helper.read_until("no such kind")
        assert helper.wait() == 0, messages[-1].header
    assert messages[0].kind == "opened"
    assert messages[-1].kind == "checked"
    return messages[-1].header


def expected_result(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "checked",
        "steps": len(record["actions"]),
        "is_over": True,
        "first_difference": None,
        "difference": "",
    }


@pytest.mark.parametrize(("env_id", "env_kwargs"), FAMILIES)
def test_every_family_replays_exactly(
    tmp_path: Path, env_id: str, env_kwargs: dict[str, Any]
) -> None:
    """Equal rewards and ends in a new process, for an unseeded third episode."""
    record = record_episode(env_id, seed=None, episodes_before=2, **env_kwargs)
    assert verify(tmp_path, record) == expected_result(record)


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "BipedalWalker-v3", "ALE/Pong-v5"])
def test_a_seeded_episode_replays_exactly(tmp_path: Path, env_id: str) -> None:
    """The record has no start state, only the seed."""
    record = record_episode(env_id, seed=3, episodes_before=1)
    assert verify(tmp_path, record) == expected_result(record)


@pytest.mark.parametrize(
    "env_id",
    ["CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3", "ALE/Pong-v5"],
)
def test_a_frame_does_not_depend_on_earlier_requests(tmp_path: Path, env_id: str) -> None:
    """After steps forwards, backwards, a jump and a repeated request, every pixel is equal."""
    record = record_episode(env_id, steps=25)
    last = len(record["actions"])
    with HelperProcess(tmp_path, record) as helper:
        messages = helper.read_until("opened")
        assert messages[-1].header["steps"] == last
        forward = helper.read_frames(1, 0)
        assert list(forward) == list(range(last + 1))
        assert {frame.header["problem"] for frame in forward.values()} == {""}
        first_size = forward[0].header["width"] * forward[0].header["height"] * 3
        assert len(forward[0].pixels) == first_size
        for request, (first, count) in enumerate(
            [(last // 2, 3), (last // 3, 2), (last // 3, 1), (last, 5), (0, 1), (last - 1, 1)], 2
        ):
            again = helper.read_frames(request, first, count)
            assert len(again) == min(count, last + 1 - first)
            for index, frame in again.items():
                assert frame.pixels == forward[index].pixels, (first, index)


def test_atari_goes_back_to_a_saved_state() -> None:
    """A long game is not replayed from its start, and continues identically."""
    env = make_environment("ALE/Pong-v5", {}, render_mode="rgb_array")
    env.reset(seed=1)
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(620)]
    keyframes = Keyframes(env)
    rewards, frames = [], []
    for step, action in enumerate(actions, 1):
        rewards.append(env.step(action)[1])
        keyframes.save(step, action)
        frames.append(env.render() if step > 500 else None)
    for _ in range(3):
        assert keyframes.restore(before=600) == 500
        for step in range(500, 620):
            assert env.step(actions[step])[1] == rewards[step]
            assert (env.render() == frames[step]).all()
    assert keyframes.restore(before=500) is None, "its frame would be outdated"
    env.close()


def test_the_first_difference_is_reported(tmp_path: Path) -> None:
    """A wrong reward in the record is found, with both numbers."""
    record = record_episode("FrozenLake-v1", steps=40)
    wrong = len(record["actions"]) - 1
    record["rewards"][wrong] = 0.25
    result = verify(tmp_path, record)
    assert result["first_difference"] == wrong
    assert result["difference"] == f"step {wrong}: reward 0.25 in the record, 0.0 in the replay"
    assert result["is_over"]


def test_frames_continue_after_a_difference(tmp_path: Path) -> None:
    """The difference is reported before the first affected frame."""
    with HelperProcess(tmp_path, odd_record(fault="differ", fault_step=4)) as helper:
        helper.request_frames(1, 0)
        messages = helper.read_until("done")
    frames = [message for message in messages if message.kind == "frame"]
    assert len(frames) == 21
    difference = next(
        message for message in messages if message.header.get("first_difference") is not None
    )
    assert difference.header["first_difference"] == 4
    assert messages.index(difference) < messages.index(frames[5])


def test_an_end_that_differs(tmp_path: Path) -> None:
    """An episode that ends earlier or differently is a difference."""
    early = verify(tmp_path, odd_record(fault="end", fault_step=7))
    assert early["difference"] == (
        "step 6: the episode continues in the record, but is terminated in the replay"
    )
    truncated = verify(tmp_path, {**odd_record(), "terminated": False, "truncated": True})
    assert truncated["difference"] == (
        "step 19: the episode is truncated in the record, but is terminated in the replay"
    )


def test_frames_after_an_early_end_have_a_reason(tmp_path: Path) -> None:
    """A frame that cannot be simulated has a reason; nothing crashes."""
    with HelperProcess(tmp_path, odd_record(fault="end", fault_step=7)) as helper:
        helper.read_until("opened")
        frames = helper.read_frames(1, 6)
    assert [bool(frame.pixels) for frame in frames.values()] == [True, True] + [False] * 13
    assert frames[8].header["problem"] == "The replay ended after 7 steps."


def test_an_unfinished_episode_is_compared_without_an_end(tmp_path: Path) -> None:
    """Its recorded steps are compared."""
    record = odd_record()
    for name in ("actions", "rewards"):
        record[name] = record[name][:9]
    record.update(is_over=False, terminated=False)
    assert verify(tmp_path, record) == expected_result(record)


def test_an_episode_that_was_cut_off_at_its_end(tmp_path: Path) -> None:
    """The last step was written without its end flag: not a difference."""
    record = {**odd_record(), "is_over": False, "terminated": False}
    assert verify(tmp_path, record) == expected_result(record)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_non_finite_rewards_are_equal(tmp_path: Path, token: str) -> None:
    """NaN equals NaN."""
    record = {**odd_record(reward=float(token)), "rewards": [token] * 20}
    assert verify(tmp_path, record) == expected_result(record)


def test_a_newer_request_replaces_a_long_one(tmp_path: Path) -> None:
    """The newer request is answered completely."""
    record = record_episode("LunarLander-v3", steps=60)
    with HelperProcess(tmp_path, record) as helper:
        helper.read_until("opened")
        helper.request_frames(1, 0)
        while helper.read_until("frame")[-1].header["index"] < 2:
            pass
        helper.request_frames(2, 30, 4)
        messages = helper.read_until("done")
    assert messages[-1].header == {"kind": "done", "request": 2}
    frames = [message.header for message in messages if message.kind == "frame"]
    assert [header["index"] for header in frames if header["request"] == 2] == [30, 31, 32, 33]
    assert len([header for header in frames if header["request"] == 1]) < 50


@pytest.mark.parametrize(
    ("rendering", "problem"),
    [
        ("nothing", "render() returned None."),
        ("error", "render() raised RuntimeError: cannot render"),
        ("text", "render() returned str, not an image."),
    ],
)
def test_an_environment_without_frames(tmp_path: Path, rendering: str, problem: str) -> None:
    """Every frame has the reason, and the comparison continues."""
    with HelperProcess(tmp_path, odd_record(rendering=rendering)) as helper:
        helper.request_frames(1, 0)
        messages = helper.read_until("done")
    frames = [message for message in messages if message.kind == "frame"]
    assert [message.header["problem"] for message in frames] == [problem] * 21
    assert [message.header for message in messages if message.kind == "checked"][-1]["steps"] == 20


def test_frames_of_changing_size(tmp_path: Path) -> None:
    """Each frame has its own size."""
    with HelperProcess(tmp_path, odd_record(rendering="growing")) as helper:
        helper.read_until("opened")
        frames = helper.read_frames(1, 0)
    assert [(message.header["width"], message.header["height"]) for message in frames.values()] == [
        (5 + steps, 4 + steps) for steps in range(21)
    ]


def test_a_library_that_prints(tmp_path: Path) -> None:
    """Standard output does not mix with the messages."""
    with HelperProcess(tmp_path, odd_record(fault="print")) as helper:
        helper.read_until("opened")
        assert len(helper.read_frames(1, 0)) == 21
    assert b"a library prints" in (tmp_path / "helper.log").read_bytes()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            odd_record(fault="raise", fault_step=5),
            "Odd-v0 failed in step 5: RuntimeError: step failed",
        ),
        (odd_record(fault="raise in reset"), "failed in reset: RuntimeError: reset failed"),
        ({**odd_record(), "env_id": "Cartpole-v1"}, "Cartpole"),
        (
            {**odd_record(), "actions": [7] * 20},
            "Step 0 cannot be replayed: 7 is not an action of Dis",
        ),
        ({**odd_record(), "seed": None}, "start was not recorded"),
        ({**odd_record(), "rewards": []}, "20 actions and 0 rewards"),
        ({"env_id": "CartPole-v1"}, "cannot be read"),
    ],
)
def test_fatal_errors_are_reported(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    """An error with a message and a remedy, and the process exits."""
    with HelperProcess(tmp_path, record, "--verify") as helper:
        error = helper.read_until("error")[-1]
        assert helper.wait() == 1
    assert message in error.header["message"]
    assert error.header["remedy"]


@pytest.mark.parametrize("fault", ["", "hang"])
def test_the_process_exits_at_the_end_of_its_input(tmp_path: Path, fault: str) -> None:
    """Even while a step hangs."""
    with HelperProcess(tmp_path, odd_record(fault=fault)) as helper:
        helper.read_until("opened")
        helper.request_frames(1, 0, 6)
        helper.read_until("frame")
        assert helper.process.stdin is not None
        helper.process.stdin.close()
        helper.process.stdin = None
        assert helper.wait() in (0, -9)


def test_the_versions_of_the_recorded_packages(tmp_path: Path) -> None:
    """The installed versions of the packages in the record are reported."""
    import gymnasium  # noqa: PLC0415 - slow to import

    record = {**odd_record(), "packages": {"gymnasium": "0.1", "no-such-package": "1", "": "1"}}
    with HelperProcess(tmp_path, record) as helper:
        opened: Message = helper.read_until("opened")[-1]
    assert opened.header["packages"] == {
        "gymnasium": gymnasium.__version__,
        "no-such-package": None,
        "": None,
    }
    assert opened.header["fps"] == 20
    assert not os.path.lexists(tmp_path / "position")

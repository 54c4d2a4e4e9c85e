"""A recorded episode, replayed by the helper process: equal rewards, and any frame."""

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.resimulation.simulation import Keyframes
from tests.worker_sdk.helper_under_test import HelperUnderTest, Message, recorded

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
def quietly_imported() -> None:
    """Import packages that warn; Box2D even crashes if the warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("gymnasium.envs.box2d", "gymnasium.envs.mujoco", "minigrid", "ale_py"):
            importlib.import_module(name)


def odd(**behaviour: Any) -> dict[str, Any]:
    """The record of an episode of 20 steps whose replay misbehaves."""
    import numpy as np  # noqa: PLC0415 - comes with the environments

    numbers = np.random.default_rng(np.random.SeedSequence(3))
    length = behaviour.get("length", 20)
    return {
        "env_id": "odd_environments:Odd-v0",
        "env_kwargs": behaviour,
        "seed": 3,
        "actions": [1] * length,
        "rewards": [float(numbers.random()) + 1 for _ in range(length)],
        "terminated": True,
        "truncated": False,
        "is_over": True,
        "packages": {},
    }


def verified(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """The last message about the comparison."""
    with HelperUnderTest(folder, record, "--verify") as helper:
        messages = helper.until("nothing of that kind")
        assert helper.wait() == 0, messages[-1].head
    assert messages[0].kind == "opened"
    assert messages[-1].kind == "checked"
    return messages[-1].head


def identical(record: dict[str, Any]) -> dict[str, Any]:
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
    record = recorded(env_id, seed=None, episodes_before=2, **env_kwargs)
    assert verified(tmp_path, record) == identical(record)


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "BipedalWalker-v3", "ALE/Pong-v5"])
def test_a_seeded_episode_replays_exactly(tmp_path: Path, env_id: str) -> None:
    """From the seed only."""
    record = recorded(env_id, seed=3, episodes_before=1)
    assert verified(tmp_path, record) == identical(record)


@pytest.mark.parametrize(
    "env_id",
    ["CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3", "ALE/Pong-v5"],
)
def test_a_frame_is_the_same_whichever_way_it_is_reached(tmp_path: Path, env_id: str) -> None:
    """Forwards, backwards, by a jump and by a repeated request: every pixel is equal."""
    record = recorded(env_id, steps=25)
    last = len(record["actions"])
    with HelperUnderTest(tmp_path, record) as helper:
        messages = helper.until("opened")
        assert messages[-1].head["steps"] == last
        straight = helper.frames(1, 0)
        assert list(straight) == list(range(last + 1))
        assert {frame.head["problem"] for frame in straight.values()} == {""}
        first_size = straight[0].head["width"] * straight[0].head["height"] * 3
        assert len(straight[0].pixels) == first_size
        for request, (first, count) in enumerate(
            [(last // 2, 3), (last // 3, 2), (last // 3, 1), (last, 5), (0, 1), (last - 1, 1)], 2
        ):
            again = helper.frames(request, first, count)
            assert len(again) == min(count, last + 1 - first)
            for index, frame in again.items():
                assert frame.pixels == straight[index].pixels, (first, index)


def test_atari_goes_back_to_a_saved_state() -> None:
    """A long game is not replayed from its start, and continues identically."""
    env = make_environment("ALE/Pong-v5", {}, render_mode="rgb_array")
    env.reset(seed=1)
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(620)]
    keyframes = Keyframes(env)
    rewards, pictures = [], []
    for step, action in enumerate(actions, 1):
        rewards.append(env.step(action)[1])
        keyframes.save(step, action)
        pictures.append(env.render() if step > 500 else None)
    for _ in range(3):
        assert keyframes.restore(before=600) == 500
        for step in range(500, 620):
            assert env.step(actions[step])[1] == rewards[step]
            assert (env.render() == pictures[step]).all()
    assert keyframes.restore(before=500) is None, "its picture would be an old one"
    env.close()


def test_the_step_that_differs_is_named(tmp_path: Path) -> None:
    """A wrong reward in the record is found, with both numbers."""
    record = recorded("FrozenLake-v1", steps=40)
    wrong = len(record["actions"]) - 1
    record["rewards"][wrong] = 0.25
    found = verified(tmp_path, record)
    assert found["first_difference"] == wrong
    assert found["difference"] == f"step {wrong}: reward 0.25 in the record, 0.0 in the replay"
    assert found["is_over"]


def test_frames_continue_after_a_difference(tmp_path: Path) -> None:
    """The difference is reported before the first affected frame."""
    with HelperUnderTest(tmp_path, odd(does="differ", at=4)) as helper:
        helper.ask(1, 0)
        messages = helper.until("done")
    frames = [each for each in messages if each.kind == "frame"]
    assert len(frames) == 21
    difference = next(each for each in messages if each.head.get("first_difference") is not None)
    assert difference.head["first_difference"] == 4
    assert messages.index(difference) < messages.index(frames[5])


def test_an_end_that_differs(tmp_path: Path) -> None:
    """An episode that ends earlier or differently is a difference."""
    early = verified(tmp_path, odd(does="end", at=7))
    assert early["difference"] == (
        "step 6: the episode continues in the record, but is terminated in the replay"
    )
    otherwise = verified(tmp_path, {**odd(), "terminated": False, "truncated": True})
    assert otherwise["difference"] == (
        "step 19: the episode is truncated in the record, but is terminated in the replay"
    )


def test_frames_after_an_early_end_have_a_reason(tmp_path: Path) -> None:
    """A frame that cannot be simulated has a reason; nothing crashes."""
    with HelperUnderTest(tmp_path, odd(does="end", at=7)) as helper:
        helper.until("opened")
        frames = helper.frames(1, 6)
    assert [bool(frame.pixels) for frame in frames.values()] == [True, True] + [False] * 13
    assert frames[8].head["problem"] == "The replay ended after 7 steps."


def test_an_unfinished_episode_has_no_end(tmp_path: Path) -> None:
    """It is compared as far as it was recorded."""
    record = odd()
    for name in ("actions", "rewards"):
        record[name] = record[name][:9]
    record.update(is_over=False, terminated=False)
    assert verified(tmp_path, record) == identical(record)


def test_an_episode_that_was_cut_off_at_its_end(tmp_path: Path) -> None:
    """The last step was written without its end flag: not a difference."""
    record = {**odd(), "is_over": False, "terminated": False}
    assert verified(tmp_path, record) == identical(record)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_non_finite_rewards_are_equal(tmp_path: Path, word: str) -> None:
    """NaN equals NaN."""
    record = {**odd(reward=float(word)), "rewards": [word] * 20}
    assert verified(tmp_path, record) == identical(record)


def test_a_newer_request_replaces_a_long_one(tmp_path: Path) -> None:
    """The newer one is answered in full."""
    record = recorded("LunarLander-v3", steps=60)
    with HelperUnderTest(tmp_path, record) as helper:
        helper.until("opened")
        helper.ask(1, 0)
        while helper.until("frame")[-1].head["index"] < 2:
            pass
        helper.ask(2, 30, 4)
        messages = helper.until("done")
    assert messages[-1].head == {"kind": "done", "request": 2}
    frames = [each.head for each in messages if each.kind == "frame"]
    assert [head["index"] for head in frames if head["request"] == 2] == [30, 31, 32, 33]
    assert len([head for head in frames if head["request"] == 1]) < 50


@pytest.mark.parametrize(
    ("draws", "problem"),
    [
        ("nothing", "render() returned None."),
        ("error", "render() raised RuntimeError: no paint"),
        ("text", "render() returned str, not an image."),
    ],
)
def test_an_environment_without_frames(tmp_path: Path, draws: str, problem: str) -> None:
    """Every frame has the reason, and the comparison continues."""
    with HelperUnderTest(tmp_path, odd(draws=draws)) as helper:
        helper.ask(1, 0)
        messages = helper.until("done")
    frames = [each for each in messages if each.kind == "frame"]
    assert [each.head["problem"] for each in frames] == [problem] * 21
    assert [each.head for each in messages if each.kind == "checked"][-1]["steps"] == 20


def test_frames_of_changing_size(tmp_path: Path) -> None:
    """Each frame has its own size."""
    with HelperUnderTest(tmp_path, odd(draws="growing")) as helper:
        helper.until("opened")
        frames = helper.frames(1, 0)
    assert [(each.head["width"], each.head["height"]) for each in frames.values()] == [
        (5 + steps, 4 + steps) for steps in range(21)
    ]


def test_a_library_that_prints(tmp_path: Path) -> None:
    """Standard output does not mix with the messages."""
    with HelperUnderTest(tmp_path, odd(does="print")) as helper:
        helper.until("opened")
        assert len(helper.frames(1, 0)) == 21
    assert b"a library prints" in (tmp_path / "helper.log").read_bytes()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (odd(does="raise", at=5), "Odd-v0 failed in step 5: RuntimeError: the ice broke"),
        (odd(does="raise in reset"), "failed in reset: RuntimeError: no ice today"),
        ({**odd(), "env_id": "Cartpole-v1"}, "Cartpole"),
        ({**odd(), "actions": [7] * 20}, "Step 0 cannot be replayed: 7 is not an action of Dis"),
        ({**odd(), "seed": None}, "start was not recorded"),
        ({**odd(), "rewards": []}, "20 actions and 0 rewards"),
        ({"env_id": "CartPole-v1"}, "cannot be read"),
    ],
)
def test_fatal_errors_are_reported(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    """An error with a message and a remedy, and the process exits."""
    with HelperUnderTest(tmp_path, record, "--verify") as helper:
        error = helper.until("error")[-1]
        assert helper.wait() == 1
    assert message in error.head["message"]
    assert error.head["remedy"]


@pytest.mark.parametrize("does", ["", "hang"])
def test_the_process_ends_with_its_input(tmp_path: Path, does: str) -> None:
    """Whatever the environment is doing."""
    with HelperUnderTest(tmp_path, odd(does=does)) as helper:
        helper.until("opened")
        helper.ask(1, 0, 6)
        helper.until("frame")
        assert helper.process.stdin is not None
        helper.process.stdin.close()
        helper.process.stdin = None
        assert helper.wait() in (0, -9)


def test_the_versions_of_the_recorded_packages(tmp_path: Path) -> None:
    """The installed versions of the packages in the record are reported."""
    import gymnasium  # noqa: PLC0415 - slow to import

    record = {**odd(), "packages": {"gymnasium": "0.1", "no-such-package": "1", "": "1"}}
    with HelperUnderTest(tmp_path, record) as helper:
        opened: Message = helper.until("opened")[-1]
    assert opened.head["packages"] == {
        "gymnasium": gymnasium.__version__,
        "no-such-package": None,
        "": None,
    }
    assert opened.head["fps"] == 20
    assert not os.path.lexists(tmp_path / "position")

"""Extras that a run needs come without anybody naming them."""

from typing import Any

import pytest

from mosaic.contract.run_config import load_run_config
from mosaic.trainer.bundles.bundle_recipe import add_needed_extras

AVAILABLE = ("atari", "hub", "minigrid", "mujoco", "video", "wandb")


def extras(available: tuple[str, ...] = AVAILABLE, **fields: Any) -> tuple[str, ...]:
    config = load_run_config(
        {"worker": "cleanrl_worker", "algo": "ppo", "env_id": "CartPole-v1", **fields}
    )
    bundle = add_needed_extras(config, available).bundle
    return bundle.extras if bundle else ()


@pytest.mark.parametrize(
    ("env_id", "extra"),
    [
        ("HalfCheetah-v5", "mujoco"),
        ("HalfCheetah-v4", "mujoco"),
        ("ALE/Pong-v5", "atari"),
        ("BreakoutNoFrameskip-v4", "atari"),
        ("MiniGrid-Empty-5x5-v0", "minigrid"),
    ],
)
def test_the_familys_extra_comes_with_the_environment(env_id: str, extra: str) -> None:
    """The extra of an Atari game includes its emulator."""
    assert extras(env_id=env_id) == (extra,)


def test_no_unneeded_extra_is_added() -> None:
    """CartPole runs in the bundle as it is."""
    assert extras() == ()
    assert extras(env_id="my_module:Own-v0") == ()


def test_requested_extras_stay() -> None:
    """Those for tracking, videos and the hub are added."""
    artifacts = {"wandb": {"enabled": True}, "video": {"enabled": True}}
    found = extras(
        artifacts=artifacts, params={"upload_model": True}, bundle={"extras": ["minigrid"]}
    )

    assert found == ("hub", "minigrid", "video", "wandb")


def test_parameters_that_switch_them_on_count_too() -> None:
    """As CleanRL's own scripts call them."""
    assert extras(params={"track": True}) == ("wandb",)
    assert extras(params={"capture_video": True}) == ("video",)
    assert extras(params={"track": False, "capture_video": False}) == ()


def test_a_bundle_without_the_extra_is_left_alone() -> None:
    """The session bundle has Atari in it already."""
    assert extras(("mujoco",), env_id="ALE/Pong-v5") == ()

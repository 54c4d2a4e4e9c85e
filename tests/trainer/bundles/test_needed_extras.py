"""Extras that a run needs are added automatically."""

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
def test_the_extra_of_the_environment_family_is_added(env_id: str, extra: str) -> None:
    """MuJoCo, Atari and MiniGrid environments need an extra."""
    assert extras(env_id=env_id) == (extra,)


def test_no_unneeded_extra_is_added() -> None:
    """CartPole and unknown environments need no extra."""
    assert extras() == ()
    assert extras(env_id="my_module:Own-v0") == ()


def test_requested_extras_are_kept() -> None:
    """Extras for tracking, videos and the hub are added to them."""
    artifacts = {"wandb": {"enabled": True}, "video": {"enabled": True}}
    names = extras(
        artifacts=artifacts, params={"upload_model": True}, bundle={"extras": ["minigrid"]}
    )

    assert names == ("hub", "minigrid", "video", "wandb")


def test_parameters_of_cleanrl_scripts_add_extras() -> None:
    """`track` and `capture_video` are the names that CleanRL uses."""
    assert extras(params={"track": True}) == ("wandb",)
    assert extras(params={"capture_video": True}) == ("video",)
    assert extras(params={"track": False, "capture_video": False}) == ()


def test_an_extra_that_the_bundle_does_not_have_is_not_added() -> None:
    """The session bundle already includes Atari."""
    assert extras(("mujoco",), env_id="ALE/Pong-v5") == ()

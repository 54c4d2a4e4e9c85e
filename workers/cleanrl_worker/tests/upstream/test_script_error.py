"""The error of a script is explained by its last output."""

import pytest

from cleanrl_worker.upstream.script_run import script_error


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("ModuleNotFoundError: No module named 'ale_py'", "atari"),
        ("ModuleNotFoundError: No module named 'wandb'", "wandb"),
        ("ModuleNotFoundError: No module named 'huggingface_hub.repocard'", "hub"),
        (
            "gymnasium.error.DependencyNotInstalled: run `pip install gymnasium[mujoco]`",
            "mujoco",
        ),
        ("gymnasium.error.NamespaceNotFound: Namespace ALE not found. Have you", "atari"),
        (
            "gymnasium.error.NameNotFound: Environment `BreakoutNoFrameskip` doesn't exist.",
            "atari",
        ),
    ],
)
def test_a_missing_module_names_its_extra(line: str, extra: str) -> None:
    """The remedy is the extra that provides the module."""
    error = script_error(1, ["Traceback (most recent call last):", line], [])
    assert error.remedy == f"Start it with `--extra {extra}`."


def test_an_unknown_environment_has_close_matches() -> None:
    """With their versions."""
    message = ["gymnasium.error.NameNotFound: Environment `CartPoll` doesn't exist."]
    error = script_error(1, message, ["--seed", "1", "--env-id", "CartPoll-v1"])
    assert "CartPole-v1" in error.remedy
    assert "Check the id" in script_error(1, message, []).remedy

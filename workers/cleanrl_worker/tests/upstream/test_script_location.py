"""A script is found by its path, as a module of CleanRL, or by a bare name."""

from pathlib import Path

import pytest

from cleanrl_worker.upstream.script_location import locate_script
from mosaic_worker import WorkerError


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("cleanrl", "cleanrl_utils"):
        (tmp_path / folder).mkdir()
    for name in ("ppo", "ppo_atari", "dqn"):
        (tmp_path / "cleanrl" / f"{name}.py").write_text("")
    return tmp_path


def test_a_path_in_a_checkout(checkout: Path) -> None:
    """Modules are imported from the checkout, where `cleanrl_utils` is."""
    location = locate_script(str(checkout / "cleanrl" / "ppo.py"))
    assert (location.name, location.origin, location.root) == ("ppo", "path", checkout)


@pytest.mark.parametrize("name", ["cleanrl.ppo_atari", "ppo_atari"])
def test_the_cleanrl_package_has_priority(checkout: Path, name: str) -> None:
    """By module or by name; the message names the package."""
    location = locate_script(name, [str(checkout)])
    assert location.path == checkout / "cleanrl" / "ppo_atari.py"
    assert location.origin == "cleanrl"
    assert "cleanrl" in location.sentence()


@pytest.mark.parametrize("name", ["td3_continuous_action", "cleanrl_worker.learners.sac"])
def test_own_algorithms_are_rejected_as_scripts(checkout: Path, name: str) -> None:
    """They need another version of gymnasium; the remedy is how to start them."""
    with pytest.raises(WorkerError, match="is an algorithm of this worker") as raised:
        locate_script(name, [str(checkout)])
    assert f"`--algo {name.rpartition('.')[2]}`" in raised.value.remedy


@pytest.mark.parametrize(("script", "meant"), [("cleanrl.ppo_atary", "ppo_atari"), ("dqnn", "dqn")])
def test_an_unknown_name_is_an_error(checkout: Path, script: str, meant: str) -> None:
    """The error has a suggestion."""
    with pytest.raises(WorkerError, match=script) as raised:
        locate_script(script, [str(checkout)])
    assert meant in raised.value.remedy


def test_a_missing_path_is_an_error(checkout: Path) -> None:
    """Files next to it are suggested; a folder is rejected."""
    with pytest.raises(WorkerError, match="There is no script") as raised:
        locate_script(str(checkout / "cleanrl" / "pp0.py"))
    assert "ppo.py" in raised.value.remedy
    with pytest.raises(WorkerError, match="is a folder"):
        locate_script(str(checkout / "cleanrl"))

"""The entries of the catalog; no environment is created."""

import subprocess
import sys

import msgspec
import pytest

from mosaic.contract.parameters import check_parameter
from mosaic.envs import catalog
from mosaic.envs.entries import EnvironmentEntry, Family

TEXTS = ("summary", "goal", "observation", "actions", "rewards", "ends")
MAX_TEXT_LENGTH = 330


@pytest.mark.parametrize("family", catalog.families(), ids=lambda family: family.id)
def test_every_entry_is_described(family: Family) -> None:
    """Complete sentences, a title, and a help text for each field."""
    listed = catalog.environments(family.id)
    assert listed
    for entry in listed:
        assert entry.title
        for name in TEXTS:
            text = getattr(entry, name)
            assert text.endswith("."), (entry.env_id, name, text)
            assert len(text) <= MAX_TEXT_LENGTH, (entry.env_id, name)
        assert len(entry.action_meanings) > 0
        for field in entry.fields:
            assert field.help.endswith("."), (entry.env_id, field.name)


def test_every_field_is_consistent() -> None:
    """Its default is within its range and among its choices."""
    for entry in catalog.environments():
        for field in entry.fields:
            assert not list(check_parameter(field, (entry.env_id, field.name)))
        names = [field.name for field in entry.fields]
        assert len(names) == len(set(names)), entry.env_id


def test_titles_are_unique_within_a_family() -> None:
    for family in catalog.families():
        titles = [entry.title for entry in catalog.environments(family.id)]
        assert len(titles) == len(set(titles))


def test_keys_cover_every_action() -> None:
    """Each action has keys, or is the action while no key is pressed."""
    for entry in catalog.environments():
        if entry.action_kind == "discrete":
            covered = {binding.action for binding in entry.keys.bindings} | {entry.keys.idle}
            assert covered - {None} == set(range(len(entry.action_meanings))), entry.env_id
        else:
            assert len(entry.keys.axes) == len(entry.action_meanings), entry.env_id
        if entry.keys.idle is None:
            assert entry.turn_based, entry.env_id


def test_no_two_joints_share_a_key() -> None:
    """The largest robot, the humanoid, has 17 joints."""
    for entry in catalog.environments("mujoco"):
        used = [key for axis in entry.keys.axes for key in (*axis.down_keys, *axis.up_keys)]
        assert len(used) == len(set(used)), entry.env_id


def test_any_id_has_an_entry() -> None:
    """Derived from the id, with a title without module and namespace."""
    entry = catalog.environment("my.package:arcade/SpaceGolf-v3")
    assert (entry.env_id, entry.title) == ("my.package:arcade/SpaceGolf-v3", "Space Golf")
    assert entry.is_generated
    assert entry.family == "other"
    assert all(getattr(entry, name).endswith(".") for name in TEXTS)
    assert entry.turn_based


def test_a_known_environment_by_another_id_is_recognised() -> None:
    """With a module prefix, in another version, or with ids of older Atari packages."""
    assert catalog.environment("ale_py:ALE/Pong-v5").fields
    older = catalog.environment("HalfCheetah-v4")
    assert older.is_generated
    assert (older.family, older.render_fps) == ("mujoco", 20)
    atari = catalog.environment("PongNoFrameskip-v4")
    assert (atari.family, atari.render_fps) == ("atari", 60)
    assert atari.defaults["repeat_action_probability"] == 0.0
    assert catalog.environment("Blackjack-v0").family == "toy-text"
    assert catalog.environment("MiniGrid-Not-Listed-v9").views == ("grid", "frame")


def test_keys_follow_the_action_space() -> None:
    """The map fits a space that a field changes, and the space of an unknown environment."""
    lander = catalog.environment("LunarLander-v3")
    box = {"type": "box", "shape": [2], "low": -1.0, "high": 1.0, "dtype": "float32"}
    throttles = catalog.with_action_space(lander, box)
    assert throttles.keys.action_for(["up"], dt_s=1.0) == [1.0, 0.0]
    assert throttles.action_kind == "continuous"

    unknown = catalog.environment("my.package:Thing-v3")
    space = {"type": "discrete", "n": 3, "start": 0}
    without_noop = catalog.with_action_space(unknown, space)
    assert without_noop.turn_based
    assert without_noop.action_kind == "discrete"
    with_noop = catalog.with_action_space(unknown, space, ["NOOP", "LEFT", "RIGHT"])
    assert not with_noop.turn_based
    assert with_noop.keys.action_for(["left"]) == 1
    assert with_noop.action_meanings == ("NOOP", "LEFT", "RIGHT")


def test_search_ranks_names_first() -> None:
    """All words must occur; matches in the name come before matches in the description."""
    assert catalog.search("lunar")[0].env_id == "LunarLander-v3"
    results = [entry.env_id for entry in catalog.search("lava gap")]
    assert results[:3] == [f"MiniGrid-LavaGapS{size}-v0" for size in (5, 6, 7)]
    assert "ALE/Frogger-v5" in [entry.env_id for entry in catalog.search("river frog")]
    assert catalog.search("no such thing") == ()


def test_entries_round_trip_as_json() -> None:
    """The window and other programs read them as data."""
    for entry in catalog.environments():
        text = msgspec.json.encode(entry)
        assert msgspec.json.decode(text, type=EnvironmentEntry) == entry


def test_only_mujoco_needs_an_extra() -> None:
    assert {family.id: family.extra for family in catalog.families() if family.extra} == {
        "mujoco": "mujoco"
    }
    mujoco = catalog.family("mujoco")
    assert mujoco.install_command == "mosaic bundles install session_worker --extra mujoco"
    assert catalog.family("no-family") is catalog.OTHER


@pytest.mark.process
def test_the_catalog_imports_no_environment() -> None:
    """The window reads it at startup, and the shell for completions."""
    code = (
        "import sys, mosaic.envs.catalog as catalog; catalog.environments();"
        "print({'gymnasium', 'numpy', 'ale_py', 'minigrid'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"

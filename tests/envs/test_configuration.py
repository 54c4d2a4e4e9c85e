"""Values of fields, and the keyword arguments created from them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError
from mosaic.envs import catalog
from mosaic.envs.configuration import (
    check_values,
    env_kwargs,
    parse_seed,
)
from mosaic.envs.frozen_lake_maps import has_path, random_map

LAKE = catalog.environment("FrozenLake-v1")
SMALL_MAP = ["SFF", "FHF", "FFG"]


def problems(env_id: str, **values: object) -> list[str]:
    """Return the problems as sentences with remedies."""
    return [str(problem) for problem in check_values(catalog.environment(env_id), values)]


def test_defaults_are_omitted() -> None:
    """Default values give no keyword arguments, which older packages might not accept."""
    for entry in catalog.environments():
        assert env_kwargs(entry, entry.defaults) == {}, entry.env_id


def test_values_become_keywords() -> None:
    lander = catalog.environment("LunarLander-v3")
    assert env_kwargs(lander, {"gravity": -3.0, "enable_wind": True, "wind_power": 15.0}) == {
        "gravity": -3.0,
        "enable_wind": True,
    }


def test_two_fields_become_one_keyword() -> None:
    """The bounds of a range; column and row of a cell."""
    walker = catalog.environment("Walker2d-v5")
    assert env_kwargs(walker, {"healthy_z_min": 0.5}) == {"healthy_z_range": [0.5, 2.0]}
    empty = catalog.environment("MiniGrid-Empty-8x8-v0")
    assert env_kwargs(empty, {"agent_start_x": 3}) == {"agent_start_pos": [3, 1]}


@pytest.mark.parametrize("map_value", ["SFF/FHF/FFG", "sff\nfhf\nffg\n", SMALL_MAP])
def test_a_map_can_be_entered(map_value: object) -> None:
    """As lines, with slashes, or as a list of rows; a predefined `map_name` overrides it."""
    assert env_kwargs(LAKE, {"map_name": "custom", "desc": map_value}) == {"desc": SMALL_MAP}
    assert env_kwargs(LAKE, {"desc": map_value}) == {"desc": SMALL_MAP}
    assert env_kwargs(LAKE, {"map_name": "8x8", "desc": map_value}) == {"map_name": "8x8"}


def test_a_random_map_depends_on_its_seed_only() -> None:
    """Equal values give equal maps; another seed gives another one."""
    values = {"map_name": "random", "map_size": 6, "map_seed": 3}
    first = env_kwargs(LAKE, values)
    assert first == env_kwargs(LAKE, values)
    assert [len(row) for row in first["desc"]] == [6] * 6
    assert first != env_kwargs(LAKE, {**values, "map_seed": 4})


@settings(max_examples=60, deadline=None)
@given(size=st.integers(2, 32), holes=st.floats(0.0, 0.6), seed=st.integers(0, 2**31 - 1))
def test_every_random_map_is_solvable(size: int, holes: float, seed: int) -> None:
    """Hole probabilities include those at which most random maps have no path."""
    rows = random_map(size, holes, seed)
    assert rows[0][0] == "S"
    assert rows[-1][-1] == "G"
    assert {len(row) for row in rows} == {size} == {len(rows)}
    assert has_path(rows, (0, 0))


@pytest.mark.parametrize(
    ("map_value", "message"),
    [
        ("SFF/FH/FFG", "not rectangular: row 2 has 2 cells"),
        ("SFX/FHF/FFG", "contains 'X'"),
        ("FFF/FHF/FFG", "has no start"),
        ("SFF/FHF/FFF", "has no goal"),
        ("SHF/HHF/FFG", "has no path from the start in row 1, column 1"),
        ("SFH/FHF/HFG", "has no path"),
        ("", "is empty"),
    ],
)
def test_an_unplayable_map_is_rejected(map_value: str, message: str) -> None:
    """The error names the problem and a remedy."""
    with pytest.raises(DocumentError, match="settings of the environment") as caught:
        env_kwargs(LAKE, {"map_name": "custom", "desc": map_value})
    assert message in caught.value.message
    assert caught.value.remedy
    assert caught.value.code == "C190"


def test_wrong_values_are_reported_with_their_field() -> None:
    """A type, a range, a choice and a misspelt name."""
    assert "`gravity`" in problems("LunarLander-v3", gravity="low")[0]
    assert "-11.99" in problems("LunarLander-v3", gravity=-20.0)[0]
    assert "`mode`" in problems("ALE/Pong-v5", mode=7)[0]
    assert problems("FrozenLake-v1", is_slipery=False) == [
        "`is_slipery` is not a setting of this environment. Did you mean `is_slippery`?"
    ]


def test_conflicting_fields_are_reported() -> None:
    """An empty range, a column without a row, and a cell outside the room."""
    assert "greater than `healthy_z_max`" in problems("Ant-v5", healthy_z_min=2.0)[0]
    assert "greater than `maxNumRooms`" in problems("MiniGrid-MultiRoom-N2-S4-v0", minNumRooms=3)[0]
    assert "is missing" in problems("MiniGrid-Empty-Random-5x5-v0", agent_start_x=2)[0]
    assert "at most 3" in problems("MiniGrid-Empty-5x5-v0", agent_start_x=4)[0]
    assert problems("MiniGrid-Empty-5x5-v0", agent_start_x=4, size=8) == []


def test_unlisted_keywords_are_passed_through() -> None:
    """The catalog lists common settings; `make` may accept more."""
    ant = catalog.environment("Ant-v5")
    assert env_kwargs(ant, {"xml_file": "my_ant.xml"}) == {"xml_file": "my_ant.xml"}
    unknown = catalog.environment("my.package:Thing-v3")
    assert env_kwargs(unknown, {"anything": [1, 2]}) == {"anything": [1, 2]}


def test_a_seed_is_an_integer() -> None:
    """Spaces are ignored; anything else is rejected with a remedy."""
    assert parse_seed(" 42 ") == 42
    for wrong in ("forty-two", "-1", "1.5", "", str(2**63)):
        with pytest.raises(UserError, match="must be an integer") as caught:
            parse_seed(wrong)
        assert caught.value.remedy
        assert caught.value.code == "C191"

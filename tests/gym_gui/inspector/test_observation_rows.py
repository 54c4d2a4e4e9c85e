"""ObservationRows: observations as named numbers with bars."""

from gym_gui.inspector.model import BAR, BAR_ROLE, NAME, VALUE, ObservationRows
from mosaic.contract.events import EnvironmentEvent

CART_POLE = EnvironmentEvent(
    env_id="CartPole-v1",
    observation_space={
        "type": "box",
        "shape": [4],
        "low": [-4.8, "-Infinity", -0.4, "-Infinity"],
        "high": [4.8, "Infinity", 0.4, "Infinity"],
    },
)


def texts(rows: ObservationRows, column: int) -> list[str]:
    return [rows.index(row, column).data() for row in range(rows.rowCount())]


def test_known_environment_has_names_and_ranges() -> None:
    """Bars start at zero; without bounds the observed values are the range."""
    rows = ObservationRows()
    rows.show([2.4, 1.0, -0.4, 0.0], CART_POLE)
    assert texts(rows, NAME)[0] == "cart position"
    assert texts(rows, VALUE) == ["2.4", "1", "\N{MINUS SIGN}0.4", "0"]
    bars = [rows.index(row, BAR).data(BAR_ROLE) for row in range(4)]
    assert bars[0] == (0.5, 0.75)
    assert bars[1] == (0.5, 1.0)
    assert bars[2] == (0.0, 0.5)


def test_large_array_is_summarized() -> None:
    """An image has a row for its shape, minimum, mean and maximum."""
    rows = ObservationRows()
    rows.show([[0, 255], [255, 0]] * 40, None)
    assert texts(rows, NAME) == ["shape", "min", "mean", "max"]
    assert texts(rows, VALUE)[:3] == ["80 \N{MULTIPLICATION SIGN} 2", "0", "127.5"]


def test_dictionary_observation_uses_its_keys() -> None:
    """The observation of MiniGrid has an image, a direction and a mission."""
    rows = ObservationRows()
    rows.show({"direction": 2, "mission": "go to the ball", "image": [[[1, 2]]]}, None)
    assert texts(rows, NAME)[:3] == ["direction", "mission", "image shape"]
    assert texts(rows, VALUE)[1] == "go to the ball"


def test_grid_state_has_row_and_column() -> None:
    """State 6 of the 4x4 lake is in the second row and the third column."""
    lake = EnvironmentEvent(
        env_id="FrozenLake-v1",
        env_kwargs={"map_name": "4x4"},
        observation_space={"type": "discrete", "n": 16, "start": 0},
    )
    rows = ObservationRows()
    rows.show(6, lake)
    assert dict(zip(texts(rows, NAME), texts(rows, VALUE), strict=True)) == {
        "state": "6",
        "row": "1",
        "column": "2",
    }


def test_unexpected_observation_does_not_raise() -> None:
    """A worker may send any JSON value."""
    rows = ObservationRows()
    for observation in (
        None,
        "text",
        [],
        {},
        [None, "a", float("nan")],
        [[], [1]],
        {"a": {"b": 1}},
        True,
    ):
        rows.show(observation, CART_POLE)
        texts(rows, VALUE)

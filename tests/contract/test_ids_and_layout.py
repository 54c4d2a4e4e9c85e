"""Ids that sort by time, and paths that stay inside the home."""

from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid, new_ulid, ulid_time_ms
from mosaic.contract.layout import HOME_VARIABLE, Home


def test_ulids_sort_by_creation_time() -> None:
    """Later ids are greater, and contain their creation time."""
    earlier, later = new_ulid(1_700_000_000_000), new_ulid(1_700_000_000_001)
    assert earlier < later
    assert ulid_time_ms(earlier) == 1_700_000_000_000


def test_ulids_are_distinct_within_a_millisecond() -> None:
    """80 random bits each."""
    assert len({new_ulid(5) for _ in range(2_000)}) == 2_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "../../etc/passwd",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "8" * 26,
        "01arz3ndektsv4rrffq69g5fav",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "01ARZ3NDEKTSV4RRFFQ69G5FA\n",
    ],
)
def test_an_invalid_ulid_is_rejected(tmp_path: Path, text: str) -> None:
    """An untrusted run id cannot become another path."""
    assert not is_ulid(text)
    with pytest.raises(UserError, match="is not a run id"):
        Home(tmp_path).run(text)
    with pytest.raises(ValueError, match="not a ULID"):
        ulid_time_ms(text)


def test_the_home_is_chosen_by_option_then_variable_then_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--home wins over $MOSAIC_HOME, which wins over ./var."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    assert Home.locate().path == tmp_path / "var"
    monkeypatch.setenv(HOME_VARIABLE, "from-variable")
    assert Home.locate().path == tmp_path / "from-variable"
    assert Home.locate("given").path == tmp_path / "given"


def test_paths_are_stored_relative_to_the_home(tmp_path: Path) -> None:
    """So the folder can be moved; paths outside of it are rejected."""
    home = Home(tmp_path)
    run = home.run(new_ulid())
    assert home.relative(run.spool) == f"trainer/runs/{run.run_id}/telemetry.jsonl"
    with pytest.raises(UserError, match="outside of the home"):
        home.relative(Path("/etc/passwd"))

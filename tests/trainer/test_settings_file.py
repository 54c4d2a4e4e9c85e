"""`settings.toml` is changed without losing what a person wrote into it."""

from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.settings_file import SettingsFile

WRITTEN = """# Mine, please keep.
max_runs = 8  # the laptop is small
"port" = 50060
worker_folders = [
  "~/workers",  # not: cpus = 3
]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_comments_order_and_other_settings_stay(path: Path) -> None:
    """Only the values that were asked for change, in their places; new ones come last."""
    path.write_text(WRITTEN)
    file = SettingsFile(path)
    file.change({"max_runs": 4, "port": None, "retention_max_gb": 20.5})
    assert path.read_text() == (
        WRITTEN.replace("= 8 ", "= 4 ").replace('"port" = 50060\n', "")
        + "retention_max_gb = 20.5\n"
    )
    assert file.stored().retention_max_gb == 20.5
    assert file.waiting() == ("max_runs", "port")


def test_a_file_that_is_not_there_is_made(path: Path) -> None:
    """The first change makes the file; taking it back leaves nothing in it."""
    file = SettingsFile(path)
    file.change({"cpus": 3})
    assert path.read_text() == "cpus = 3\n"
    file.change({"cpus": None})
    assert path.read_text() == ""
    assert file.waiting() == ()


def test_what_cannot_be_changed_safely_is_left_alone(path: Path) -> None:
    """A spelling that is not understood is refused, and nothing is written."""
    text = 'host = """\nport = 1\n"""\nport = 2\n'
    path.write_text(text)
    with pytest.raises(UserError) as refusal:
        SettingsFile(path).change({"port": 3})
    assert refusal.value.code == "T466"
    assert path.read_text() == text

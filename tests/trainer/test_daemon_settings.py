"""`settings.toml` is changed without losing what a person wrote into it."""

from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.daemon_settings import SettingsFile

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
    assert file.pending() == ("max_runs", "port")


def test_a_file_that_is_not_there_is_made(path: Path) -> None:
    """The first change makes the file; taking it back leaves nothing in it."""
    file = SettingsFile(path)
    file.change({"cpus": 3})
    assert path.read_text() == "cpus = 3\n"
    file.change({"cpus": None})
    assert path.read_text() == ""
    assert file.pending() == ()


def test_what_cannot_be_changed_safely_is_left_alone(path: Path) -> None:
    """A spelling that is not understood is rejected, and nothing is written."""
    text = 'host = """\nport = 1\n"""\nport = 2\n'
    path.write_text(text)
    with pytest.raises(UserError) as error:
        SettingsFile(path).change({"port": 3})
    assert error.value.code == "T466"
    assert path.read_text() == text


def test_line_ends_and_links_stay(path: Path, tmp_path: Path) -> None:
    """A file from another system, kept elsewhere, is changed where it is and as it is."""
    kept = tmp_path / "dotfiles.toml"
    kept.write_bytes(b"port = 1\r\n# mine\r\ncpus = 2\r\n")
    path.symlink_to(kept)
    SettingsFile(path).change({"port": 3})
    assert path.is_symlink()
    assert kept.read_bytes() == b"port = 3\r\n# mine\r\ncpus = 2\r\n"


@pytest.mark.parametrize(
    "wrong",
    ['port = "80"', "cpus = 2.0", f"memory_mb = {10**30}", "prot = 1", "retention_max_gb = nan"],
)
def test_a_file_that_was_edited_wrongly(path: Path, wrong: str) -> None:
    """What no daemon would start with is reported as such, and not made worse."""
    file = SettingsFile(path)
    path.write_text(f"{wrong}\n")
    for ask in (file.stored, file.pending, lambda: file.change({"max_runs": 3})):
        with pytest.raises(UserError) as message:
            ask()
        assert message.value.code in ("T301", "T466")
    assert path.read_text() == f"{wrong}\n"


def test_a_wrong_value_can_be_replaced(path: Path) -> None:
    """Setting it again, or taking it back, repairs the file."""
    file = SettingsFile(path)
    for value, left in ((81, "port = 81\n"), (None, "")):
        path.write_text('port = "80"\n')
        file.change({"port": value})
        assert path.read_text() == left

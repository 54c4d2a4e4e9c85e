"""Changes to `settings.toml` preserve comments and other settings."""

from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.daemon_settings import SettingsFile

WRITTEN = """# A comment of the user.
max_runs = 8  # the laptop is small
"port" = 50060
worker_folders = [
  "~/workers",  # not: cpus = 3
]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_comments_order_and_other_settings_are_preserved(path: Path) -> None:
    """Only the given values change in place; new ones are appended."""
    path.write_text(WRITTEN)
    file = SettingsFile(path)
    file.change({"max_runs": 4, "port": None, "retention_max_gb": 20.5})
    assert path.read_text() == (
        WRITTEN.replace("= 8 ", "= 4 ").replace('"port" = 50060\n', "")
        + "retention_max_gb = 20.5\n"
    )
    assert file.stored().retention_max_gb == 20.5
    assert file.pending() == ("max_runs", "port")


def test_a_missing_file_is_created(path: Path) -> None:
    """The first change creates the file; removing the value leaves it empty."""
    file = SettingsFile(path)
    file.change({"cpus": 3})
    assert path.read_text() == "cpus = 3\n"
    file.change({"cpus": None})
    assert path.read_text() == ""
    assert file.pending() == ()


def test_a_file_that_cannot_be_changed_safely_is_not_changed(path: Path) -> None:
    """An unsupported TOML syntax is rejected, and nothing is written."""
    text = 'host = """\nport = 1\n"""\nport = 2\n'
    path.write_text(text)
    with pytest.raises(UserError) as error:
        SettingsFile(path).change({"port": 3})
    assert error.value.code == "T466"
    assert path.read_text() == text


def test_line_endings_and_links_are_preserved(path: Path, tmp_path: Path) -> None:
    """A symlinked file with CRLF line endings is changed in place."""
    target = tmp_path / "dotfiles.toml"
    target.write_bytes(b"port = 1\r\n# comment\r\ncpus = 2\r\n")
    path.symlink_to(target)
    SettingsFile(path).change({"port": 3})
    assert path.is_symlink()
    assert target.read_bytes() == b"port = 3\r\n# comment\r\ncpus = 2\r\n"


@pytest.mark.parametrize(
    "line",
    ['port = "80"', "cpus = 2.0", f"memory_mb = {10**30}", "prot = 1", "retention_max_gb = nan"],
)
def test_an_invalid_file(path: Path, line: str) -> None:
    """Every call reports the error, and the file is not changed."""
    file = SettingsFile(path)
    path.write_text(f"{line}\n")
    for call in (file.stored, file.pending, lambda: file.change({"max_runs": 3})):
        with pytest.raises(UserError) as error:
            call()
        assert error.value.code in ("T301", "T466")
    assert path.read_text() == f"{line}\n"


def test_an_invalid_value_can_be_replaced(path: Path) -> None:
    """Setting or removing the value repairs the file."""
    file = SettingsFile(path)
    for value, expected in ((81, "port = 81\n"), (None, "")):
        path.write_text('port = "80"\n')
        file.change({"port": value})
        assert path.read_text() == expected

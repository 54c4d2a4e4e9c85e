"""The log file of the window."""

import logging
from pathlib import Path

from gym_gui.app.start_up import close_window_log, open_window_log
from mosaic.contract.layout import Home


def test_messages_are_logged_until_the_log_is_closed(tmp_path: Path) -> None:
    """Only the owner can read the file."""
    home = Home(tmp_path)
    handler = open_window_log(home)
    logging.getLogger("gym_gui.module").warning("C300 first")
    close_window_log(handler)
    logging.getLogger("gym_gui.module").warning("C300 second")
    log = home.logs / "window.log"
    assert "C300 first" in log.read_text()
    assert "second" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_created_is_not_an_error(tmp_path: Path) -> None:
    """A file exists in place of the log folder."""
    (tmp_path / "logs").write_text("")
    assert open_window_log(Home(tmp_path)) is None

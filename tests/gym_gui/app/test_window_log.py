"""The window's own log: a file that only its owner reads."""

import logging
from pathlib import Path

from gym_gui.app.window_log import keep_window_log, leave_window_log
from mosaic.contract.layout import Home


def test_what_the_window_says_is_in_its_log(tmp_path: Path) -> None:
    """Readable by its owner alone, and let go when the window has closed."""
    home = Home(tmp_path)
    handler = keep_window_log(home)
    logging.getLogger("gym_gui.somewhere").warning("C300 it rains")
    leave_window_log(handler)
    logging.getLogger("gym_gui.somewhere").warning("C300 it snows")
    log = home.logs / "window.log"
    assert "C300 it rains" in log.read_text()
    assert "snows" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_no_place_for_a_log_keeps_no_window_from_opening(tmp_path: Path) -> None:
    """A file lies where the folder should be."""
    (tmp_path / "logs").write_text("")
    assert keep_window_log(Home(tmp_path)) is None

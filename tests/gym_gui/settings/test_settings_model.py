"""Settings of the window and of a real daemon, with undo."""

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.daemon_fields import DAEMON_FIELDS, STORAGE_FIELDS
from gym_gui.settings.model.settings_model import SettingsModel
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

VALUE = "f00dfeed-0123456789-do-not-tell"
MAX_GB = STORAGE_FIELDS[0]
MAX_RUNS = next(field for field in DAEMON_FIELDS if field.name == "max_runs")


@pytest.fixture
def posted(notices: Notices) -> list[Notice]:
    """Every notice, in order."""
    received: list[Notice] = []
    notices.posted.connect(received.append)
    return received


@pytest.fixture
def model(services: Services, theme: ThemeModel, qtbot: QtBot) -> SettingsModel:
    """The model after the daemon has answered."""
    created = SettingsModel(services, theme)
    created.refresh()
    qtbot.waitUntil(
        lambda: bool(created.daemon and created.retention and created.secrets.is_known),
        timeout=TIMEOUT_MS,
    )
    return created


@pytest.mark.process
def test_settings_and_keys_of_the_daemon(
    model: SettingsModel, posted: list[Notice], daemon: DaemonUnderTest, qtbot: QtBot
) -> None:
    """They are written to its files, can be undone, and the window stores no key values."""
    model.set_daemon_value(MAX_GB, "much")
    assert "number" in model.problems[MAX_GB.name]
    model.set_daemon_value(MAX_GB, 20)
    qtbot.waitUntil(lambda: model.stored(MAX_GB.name) == 20, timeout=TIMEOUT_MS)
    assert MAX_GB.name not in model.problems
    assert "retention_max_gb = 20" in daemon.home.settings.read_text()
    qtbot.waitUntil(
        lambda: model.retention is not None and model.retention.max_gb == 20, timeout=TIMEOUT_MS
    )
    undo = posted[-1].run
    assert undo is not None
    undo()
    qtbot.waitUntil(lambda: model.stored(MAX_GB.name) is None, timeout=TIMEOUT_MS)
    model.set_daemon_value(MAX_RUNS, 5)
    qtbot.waitUntil(lambda: model.waiting == ("Concurrent runs",), timeout=TIMEOUT_MS)

    secrets = model.secrets

    def is_set(name: str) -> bool:
        return any(secret.name == name and secret.is_set for secret in secrets.secrets)

    secrets.set_secret("WANDB_API_KEY", VALUE)
    qtbot.waitUntil(lambda: is_set("WANDB_API_KEY"), timeout=TIMEOUT_MS)
    assert VALUE in daemon.home.secrets.read_text()
    assert VALUE not in repr(secrets.secrets)
    assert all(VALUE not in notice.message for notice in posted)
    secrets.set_secret(VALUE, VALUE)
    qtbot.waitUntil(lambda: bool(secrets.problems), timeout=TIMEOUT_MS)
    assert VALUE not in " ".join(secrets.problems.values())
    secrets.remove("WANDB_API_KEY")
    qtbot.waitUntil(lambda: not is_set("WANDB_API_KEY"), timeout=TIMEOUT_MS)


def test_window_settings_are_saved(
    offline_services: Services, posted: list[Notice], theme: ThemeModel, qtbot: QtBot
) -> None:
    """Theme, scaling and cache need no daemon; changes emit signals and can be undone."""
    store = offline_services.settings
    model = SettingsModel(offline_services, theme)
    model.refresh()
    with qtbot.waitSignals([model.integer_scaling_changed, model.cache_changed]):
        model.set_integer_scaling(not model.integer_scaling)
        model.set_cache_mb(512)
    model.choose_theme("dark")
    assert theme.colours.is_dark
    assert store.text("appearance/theme") == "dark"
    assert store.number("replay/cache_mb", 0) == 512
    undo = posted[-1].run
    assert undo is not None
    undo()
    assert theme.choice == "system"
    model.set_cache_mb(1)
    assert model.cache_mb == 512
    assert model.problems

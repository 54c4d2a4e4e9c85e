"""DrawEnvironment: pictures of real environments by a daemon, and what is said without one."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from mosaic.client.results import EnvironmentThumbnail
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

OWN_FOLDER = str(Path(__file__).parent)
HARD = "drawn_environments:Hard-v0"


@pytest.fixture(scope="module")
def daemon(
    tmp_path_factory: pytest.TempPathFactory, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    """One for all tests of this module."""
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("pictures"))
    give_session_bundle(under_test.home)
    temporary = under_test.folder / "temporary"
    temporary.mkdir(parents=True)
    under_test.environment = {"TMPDIR": str(temporary)}
    assert under_test.start().startswith("ready ")
    try:
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture(scope="module")
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


def hard(client: TrainerClient, **env_kwargs: Any) -> EnvironmentThumbnail:
    return client.environment_thumbnail(HARD, env_kwargs, python_path=[OWN_FOLDER])


def painters_of(daemon: DaemonUnderTest) -> list[int]:
    """The processes that draw for the daemon and still live."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"mosaic_worker.thumbnails" in command and os.fsencode(daemon.folder) in environment:
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    "env_id",
    ["FrozenLake-v1", "CartPole-v1", "LunarLander-v3", "ALE/Breakout-v5", "MiniGrid-Empty-5x5-v0"],
)
def test_pictures_of_every_family(client: TrainerClient, env_id: str) -> None:
    """A picture is small, has all its bytes, and shows something."""
    picture = client.environment_thumbnail(env_id)
    assert 0 < picture.width <= 320
    assert 0 < picture.height <= 320
    assert len(picture.pixels) == picture.width * picture.height * picture.channels
    assert len(set(picture.pixels)) > 1


def test_settings_and_seed_count(client: TrainerClient) -> None:
    """It is drawn as it would be made: with its settings, and from the seed."""
    small = client.environment_thumbnail("FrozenLake-v1", {"desc": ["SF", "FG"]})
    assert small != client.environment_thumbnail("FrozenLake-v1", {"desc": ["SH", "FG"]})
    taxi = client.environment_thumbnail("Taxi-v4", seed=1)
    assert taxi == client.environment_thumbnail("Taxi-v4", seed=1)
    assert taxi != client.environment_thumbnail("Taxi-v4", seed=2)


def test_no_run_is_made(client: TrainerClient) -> None:
    """Pictures leave nothing in the list of runs."""
    client.environment_thumbnail("CartPole-v1")
    assert not list(client.runs())


@pytest.mark.parametrize(
    ("does", "code", "text"),
    [
        ("crash", "T473", "SIGSEGV"),
        ("raise", "T471", "no ice today"),
        ("draw nothing", "T472", "render() returned None"),
    ],
)
def test_a_failure_is_of_one_environment(
    client: TrainerClient, does: str, code: str, text: str
) -> None:
    """It is reported with a remedy, and the next picture comes."""
    with pytest.raises(UserError) as caught:
        hard(client, does=does)
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.remedy
    assert hard(client).pixels[:3] == b"\x07\x07\x07"


def test_the_log_has_details(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """It has the traceback of what failed, and nothing that others said before."""
    with pytest.raises(UserError, match="failed: RuntimeError"):
        hard(client, does="raise at length")
    log = (daemon.home.logs / "daemon.log").read_text()
    (_, _, failures) = log.rpartition("T477")
    assert HARD in failures
    assert "no end of it" in failures
    assert "no ice today" not in failures


def test_an_unknown_environment(client: TrainerClient) -> None:
    """A wrong id is answered with those that may be meant."""
    with pytest.raises(UserError, match=r"Unknown environment CartPol-v1") as caught:
        client.environment_thumbnail("CartPol-v1")
    assert "CartPole-v1" in caught.value.remedy


def test_what_is_printed_does_no_harm(client: TrainerClient) -> None:
    """Standard output is ours alone."""
    assert hard(client, does="print").width == 8


def test_an_empty_screen(client: TrainerClient) -> None:
    """What begins in the dark is shown after the steps that put something on the screen."""
    assert hard(client, does="begin in the dark").pixels[:3] == b"\x07\x07\x07"


def test_a_large_picture_is_averaged(client: TrainerClient) -> None:
    """Each pixel is the mean of those that it stands for."""
    picture = hard(client, does="draw a large one")
    assert (picture.width, picture.height) == (250, 175)
    assert set(picture.pixels) == {128}


def test_one_process_that_ends_when_idle(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """Many at once are drawn by one process, which goes when idle."""
    drawn: list[EnvironmentThumbnail] = []

    def ask(seed: int) -> None:
        drawn.append(client.environment_thumbnail("CartPole-v1", seed=seed))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    eventually(lambda: painters_of(daemon))
    assert len(painters_of(daemon)) <= 1  # it may be gone already when the machine is busy
    for thread in threads:
        thread.join()
    assert len(drawn) == 6
    eventually(lambda: not painters_of(daemon))
    eventually(lambda: not list((daemon.folder / "temporary").iterdir()))


def test_what_is_not_installed(tmp_path: Path) -> None:
    """Nothing is installed for a picture; the remedy names the bundle, and the extra it takes."""
    under_test = DaemonUnderTest(tmp_path)
    assert under_test.start().startswith("ready ")
    try:
        with TrainerClient.connect(under_test.home) as client:
            for env_id, command in [
                ("CartPole-v1", "`mosaic bundles install session_worker`"),
                ("Ant-v5", "`mosaic bundles install session_worker --extra mujoco`"),
            ]:
                with pytest.raises(UserError, match="not installed") as caught:
                    client.environment_thumbnail(env_id)
                assert caught.value.code == "T470"
                assert command in caught.value.remedy
        assert not under_test.home.venvs.exists()
    finally:
        under_test.clean_up()


def test_a_daemon_that_stops_while_one_hangs(
    tmp_path: Path, give_session_bundle: Callable[[Home], None]
) -> None:
    """It does not wait for an environment that hangs, and leaves no process behind."""
    under_test = DaemonUnderTest(tmp_path)
    give_session_bundle(under_test.home)
    assert under_test.start().startswith("ready ")
    failures: list[UserError] = []
    try:
        with TrainerClient.connect(under_test.home) as client:

            def ask() -> None:
                with pytest.raises(UserError) as caught:
                    hard(client, does="hang")
                failures.append(caught.value)

            asking = threading.Thread(target=ask)
            asking.start()
            eventually(lambda: painters_of(under_test))
            assert under_test.stop() == 0
            eventually(lambda: not painters_of(under_test))
            asking.join()
        assert len(failures) == 1
    finally:
        under_test.clean_up()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"env_id": " "}, "env_id"),
        ({"seed": -1}, "seed"),
        ({"env_kwargs": {"desc": ["S" * 40_000]}}, "env_kwargs_json"),
        ({"python_path": ["here"]}, "python_path"),
    ],
)
def test_requests_that_make_no_sense(
    client: TrainerClient, fields: dict[str, Any], text: str
) -> None:
    """They are rejected by the name of the field, before anything is started."""
    with pytest.raises(UserError, match=text):
        client.environment_thumbnail(**{"env_id": "CartPole-v1", **fields})


def test_settings_that_cannot_be_sent(client: TrainerClient) -> None:
    """The client says so itself."""
    with pytest.raises(UserError, match="cannot be encoded") as caught:
        client.environment_thumbnail("CartPole-v1", {"gravity": object()})
    assert caught.value.code == "C370"

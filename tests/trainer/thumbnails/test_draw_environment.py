"""DrawEnvironment: thumbnails of real environments, and errors."""

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
FAULTY = "faulty_environments:Faulty-v0"


@pytest.fixture(scope="module")
def daemon(
    tmp_path_factory: pytest.TempPathFactory, give_session_bundle: Callable[[Home], None]
) -> Iterator[DaemonUnderTest]:
    """One daemon for all tests of this module."""
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("thumbnails"))
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


def faulty_thumbnail(client: TrainerClient, **env_kwargs: Any) -> EnvironmentThumbnail:
    return client.environment_thumbnail(FAULTY, env_kwargs, python_path=[OWN_FOLDER])


def render_processes(daemon: DaemonUnderTest) -> list[int]:
    """Return the live render processes of the daemon."""
    pids = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"mosaic_worker.thumbnails" in command and os.fsencode(daemon.folder) in environment:
            pids.append(int(entry.name))
    return pids


@pytest.mark.parametrize(
    "env_id",
    ["FrozenLake-v1", "CartPole-v1", "LunarLander-v3", "ALE/Breakout-v5", "MiniGrid-Empty-5x5-v0"],
)
def test_thumbnails_of_every_family(client: TrainerClient, env_id: str) -> None:
    """A thumbnail is small, complete and not blank."""
    thumbnail = client.environment_thumbnail(env_id)
    assert 0 < thumbnail.width <= 320
    assert 0 < thumbnail.height <= 320
    assert len(thumbnail.pixels) == thumbnail.width * thumbnail.height * thumbnail.channels
    assert len(set(thumbnail.pixels)) > 1


def test_keyword_arguments_and_seed_are_used(client: TrainerClient) -> None:
    """The environment is created with its keyword arguments and reset with the seed."""
    small = client.environment_thumbnail("FrozenLake-v1", {"desc": ["SF", "FG"]})
    assert small != client.environment_thumbnail("FrozenLake-v1", {"desc": ["SH", "FG"]})
    taxi = client.environment_thumbnail("Taxi-v4", seed=1)
    assert taxi == client.environment_thumbnail("Taxi-v4", seed=1)
    assert taxi != client.environment_thumbnail("Taxi-v4", seed=2)


def test_no_run_is_created(client: TrainerClient) -> None:
    """Thumbnails are not listed as runs."""
    client.environment_thumbnail("CartPole-v1")
    assert not list(client.runs())


@pytest.mark.parametrize(
    ("fault", "code", "text"),
    [
        ("crash", "T473", "SIGSEGV"),
        ("raise", "T471", "reset failed"),
        ("render nothing", "T472", "render() returned None"),
    ],
)
def test_a_failure_does_not_affect_other_environments(
    client: TrainerClient, fault: str, code: str, text: str
) -> None:
    """It is reported with a remedy, and the next thumbnail is rendered."""
    with pytest.raises(UserError) as caught:
        faulty_thumbnail(client, fault=fault)
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.remedy
    assert faulty_thumbnail(client).pixels[:3] == b"\x07\x07\x07"


def test_the_log_has_details(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """The entry has the traceback of this failure and no output of earlier ones."""
    with pytest.raises(UserError, match="failed: RuntimeError"):
        faulty_thumbnail(client, fault="raise a long message")
    log = (daemon.home.logs / "daemon.log").read_text()
    (_, _, failures) = log.rpartition("T477")
    assert FAULTY in failures
    assert "message message" in failures
    assert "reset failed" not in failures


def test_an_unknown_environment(client: TrainerClient) -> None:
    """The remedy suggests similar ids."""
    with pytest.raises(UserError, match=r"Unknown environment CartPol-v1") as caught:
        client.environment_thumbnail("CartPol-v1")
    assert "CartPole-v1" in caught.value.remedy


def test_output_of_an_environment_is_ignored(client: TrainerClient) -> None:
    """An environment that writes to standard output does not break the protocol."""
    assert faulty_thumbnail(client, fault="print").width == 8


def test_a_black_first_frame(client: TrainerClient) -> None:
    """Steps are taken until a frame is not black."""
    assert faulty_thumbnail(client, fault="start with a black frame").pixels[:3] == b"\x07\x07\x07"


def test_a_large_frame_is_downscaled(client: TrainerClient) -> None:
    """Each pixel is the mean of the pixels that it covers."""
    thumbnail = faulty_thumbnail(client, fault="render a large frame")
    assert (thumbnail.width, thumbnail.height) == (250, 175)
    assert set(thumbnail.pixels) == {128}


def test_one_process_that_exits_when_idle(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """One process renders concurrent requests and exits when idle."""
    thumbnails: list[EnvironmentThumbnail] = []

    def request(seed: int) -> None:
        thumbnails.append(client.environment_thumbnail("CartPole-v1", seed=seed))

    threads = [threading.Thread(target=request, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    eventually(lambda: render_processes(daemon))
    assert len(render_processes(daemon)) <= 1  # it may have exited already on a busy machine
    for thread in threads:
        thread.join()
    assert len(thumbnails) == 6
    eventually(lambda: not render_processes(daemon))
    eventually(lambda: not list((daemon.folder / "temporary").iterdir()))


def test_a_bundle_that_is_not_installed(tmp_path: Path) -> None:
    """It is not installed automatically; the remedy names the bundle and the extra."""
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


def test_a_daemon_that_stops_while_an_environment_hangs(
    tmp_path: Path, give_session_bundle: Callable[[Home], None]
) -> None:
    """The daemon does not wait for the environment and leaves no process behind."""
    under_test = DaemonUnderTest(tmp_path)
    give_session_bundle(under_test.home)
    assert under_test.start().startswith("ready ")
    failures: list[UserError] = []
    try:
        with TrainerClient.connect(under_test.home) as client:

            def request() -> None:
                with pytest.raises(UserError) as caught:
                    faulty_thumbnail(client, fault="hang")
                failures.append(caught.value)

            requesting = threading.Thread(target=request)
            requesting.start()
            eventually(lambda: render_processes(under_test))
            assert under_test.stop() == 0
            eventually(lambda: not render_processes(under_test))
            requesting.join()
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
def test_invalid_requests(client: TrainerClient, fields: dict[str, Any], text: str) -> None:
    """They are rejected with the name of the field before a process is started."""
    with pytest.raises(UserError, match=text):
        client.environment_thumbnail(**{"env_id": "CartPole-v1", **fields})


def test_keyword_arguments_that_cannot_be_encoded(client: TrainerClient) -> None:
    """The client raises the error."""
    with pytest.raises(UserError, match="cannot be encoded") as caught:
        client.environment_thumbnail("CartPole-v1", {"gravity": object()})
    assert caught.value.code == "C370"

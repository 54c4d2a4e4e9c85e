"""A script gets keys, tokens and proxies only if it needs them."""

import socket
from pathlib import Path

import pytest
from workers.cleanrl_worker.tests.upstream.script_process import HEAD

from cleanrl_worker.upstream.launch import Launch, plan_launch
from cleanrl_worker.upstream.run_files import RunFiles
from mosaic_worker import Emitter, RunConfig

pytestmark = pytest.mark.process

SECRETS = ("WANDB_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "WANDB_VPN_HTTPS_PROXY")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy")
UPLOADS = HEAD.replace('"--track"', '"--upload-model"')


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with every secret, and no proxy."""
    for name in (*PROXIES, "no_proxy", "NO_PROXY", "WANDB_MODE", "MOSAIC_CHECKPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in SECRETS:
        monkeypatch.setenv(name, f"secret-{name}")
    return tmp_path


def launch(folder: Path, source: str = HEAD, **raw: object) -> Launch:
    script = folder / "mine.py"
    script.write_text(source)
    raw["script"] = str(script)
    params = raw.pop("params", {})
    assert isinstance(params, dict)
    return plan_launch(RunConfig("train", "x", "CartPole-v1", {}, 1, 10, None, params, raw))


def tracked(**wandb: object) -> dict[str, object]:
    return {"wandb": {"enabled": True, **wandb}}


def test_secrets_are_not_passed_by_default(folder: Path) -> None:
    """A script that neither tracks nor uploads gets none."""
    environment = launch(folder).environment
    assert not set(SECRETS) & set(environment)
    assert environment["WANDB_MODE"] == "offline"


def test_an_upload_gets_its_token(folder: Path) -> None:
    """And nothing else."""
    environment = launch(folder, UPLOADS, params={"upload_model": True}).environment
    assert set(SECRETS) & set(environment) == {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}


def test_tracking_is_online_if_the_server_responds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script then has the key."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        planned = launch(folder, artifacts=tracked())
    assert planned.offline_reason == ""
    assert planned.environment["WANDB_MODE"] == "online"
    assert set(SECRETS) & set(planned.environment) == {"WANDB_API_KEY"}


def test_tracking_is_offline_if_no_server_responds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the script would wait for minutes and fail."""
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{closed_port()}")
    planned = launch(folder, params={"track": True})
    assert "127.0.0.1 cannot be reached" in planned.offline_reason
    assert planned.environment["WANDB_MODE"] == "offline"
    assert not set(PROXIES) & set(planned.environment)


def test_a_proxy_is_used_only_if_the_run_sets_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a password comes from the environment; it is probed first."""
    proxy = f"http://me:password@127.0.0.1:{closed_port()}"
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", proxy)
    monkeypatch.setenv("WANDB_BASE_URL", "https://tracker.invalid")
    planned = launch(folder, artifacts=tracked(proxy="http://127.0.0.1:1"))
    assert planned.environment["HTTPS_PROXY"] == planned.environment["https_proxy"] == proxy
    assert "through the proxy 127.0.0.1" in planned.offline_reason
    assert "password" not in planned.offline_reason


def test_the_wandb_run_id_of_the_environment_is_used(tmp_path: Path) -> None:
    """A user's id may contain characters that end a URL."""
    telemetry = tmp_path / "telemetry"
    with telemetry.open("wb") as stream:
        emitter = Emitter(fd=stream.fileno())
        files = RunFiles(tmp_path, emitter, "night.1")
        files.announce_wandb("https://wandb.ai/me/mine/runs/night", "night")
        emitter.writer.close()
    assert '"id":"night.1"' in telemetry.read_text().replace(" ", "")


def closed_port() -> int:
    """A port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port

"""Keys, services and the network, before a run needs them."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.readiness import CheckStatus
from mosaic.trainer.preflight import outside_checks
from mosaic.trainer.secrets import Secrets
from tests.trainer.machine.conftest import FakeMachine
from tests.trainer.preflight.conftest import candidate, config, only


def secrets_of(tmp_path: Path, **environ: str) -> Secrets:
    return Secrets(Home(tmp_path / "var"), None, environ=environ)


def tracking(**wandb: Any) -> Any:
    return candidate(config(artifacts={"wandb": {"enabled": True, **wandb}}))


def test_a_missing_key_warns_that_tracking_will_be_offline(tmp_path: Path) -> None:
    """The run is not stopped for it; the remedy says where the key goes."""
    item = only(outside_checks.check_wandb(tracking(), secrets_of(tmp_path), None))
    assert item.status is CheckStatus.WARNING
    assert "offline" in item.message
    assert "WANDB_API_KEY" in item.remedy


def test_a_parameter_that_switches_tracking_on_counts_too(tmp_path: Path) -> None:
    """A script's own `--track` needs a key as well."""
    track = {"name": "track", "type": "bool", "default": False}
    algorithms = [{"id": "ppo", "parameters": [track]}]
    secrets = secrets_of(tmp_path)
    requested = candidate(config(params={"track": True}), algorithms=algorithms)
    item = only(outside_checks.check_wandb(requested, secrets, None))
    assert item.status is CheckStatus.WARNING
    silent = candidate(config(), algorithms=algorithms)
    assert list(outside_checks.check_wandb(silent, secrets, None)) == []


def test_a_key_lets_it_track_online(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `wandb login` left in a file does not: no run is given it."""
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    with_key = secrets_of(tmp_path, WANDB_API_KEY="k")
    packages = {"wandb": "0.31"}
    online = only(outside_checks.check_wandb(tracking(), with_key, packages))
    assert online.status is CheckStatus.OK
    offline = only(outside_checks.check_wandb(tracking(), secrets_of(tmp_path), packages))
    assert offline.status is CheckStatus.WARNING
    assert "WANDB_API_KEY" in offline.remedy


@pytest.mark.parametrize(
    ("wandb", "statuses"),
    [
        ({"enabled": False}, []),
        ({"mode": "disabled"}, []),
        ({"mode": "offline"}, [CheckStatus.OK]),
    ],
)
def test_a_run_that_does_not_track_online_needs_no_key(
    tmp_path: Path, wandb: dict[str, Any], statuses: list[CheckStatus]
) -> None:
    """Nothing is asked for that is not used."""
    secrets = secrets_of(tmp_path)
    items = outside_checks.check_wandb(tracking(**wandb), secrets, {"wandb": "0.31"})
    assert [item.status for item in items] == statuses


def test_tracking_with_a_worker_that_cannot_warns(tmp_path: Path) -> None:
    """The user would look for a run that never appears."""
    secrets = secrets_of(tmp_path, WANDB_API_KEY="k")
    item = only(outside_checks.check_wandb(tracking(), secrets, {"numpy": "2.0"}))
    assert item.status is CheckStatus.WARNING
    assert "has no W&B" in item.message


def test_missing_credentials_block_by_name(tmp_path: Path) -> None:
    """The worker said that it cannot do without them."""
    requested = candidate(needs={"credentials": ["OPENAI_API_KEY", "OTHER_KEY"]})
    secrets = secrets_of(tmp_path, OTHER_KEY="x")
    item = only(outside_checks.check_credentials(requested, secrets))
    assert item.status is CheckStatus.BLOCKING
    assert "`OPENAI_API_KEY`" in item.message
    assert "OTHER_KEY" not in item.message


def test_credentials_that_are_set_are_ok_and_not_shown(tmp_path: Path) -> None:
    """Only names are shown."""
    requested = candidate(needs={"credentials": ["OPENAI_API_KEY"]})
    secrets = secrets_of(tmp_path, OPENAI_API_KEY="very-secret-value")
    item = only(outside_checks.check_credentials(requested, secrets))
    assert item.status is CheckStatus.OK
    assert "very-secret-value" not in repr(item)
    assert list(outside_checks.check_credentials(candidate(), secrets)) == []


@pytest.mark.parametrize("name", ["WANDB_API_KEY", "HF_TOKEN"])
def test_the_key_of_a_service_that_is_not_used_is_not_missed(tmp_path: Path, name: str) -> None:
    """A worker that can track and upload asks for the keys; a run that does neither needs none."""
    requested = candidate(needs={"credentials": [name]})
    assert list(outside_checks.check_credentials(requested, secrets_of(tmp_path))) == []
    there = only(outside_checks.check_credentials(requested, secrets_of(tmp_path, **{name: "x"})))
    assert there.status is CheckStatus.OK


def test_an_upload_without_a_token_warns(tmp_path: Path) -> None:
    """The policy stays here, and the run need not fail for it."""
    upload = {"name": "upload_model", "type": "bool", "default": False}
    requested = candidate(
        config(params={"upload_model": True}),
        needs={"credentials": ["HF_TOKEN"]},
        algorithms=[{"id": "ppo", "parameters": [upload]}],
    )
    item = only(outside_checks.check_credentials(requested, secrets_of(tmp_path)))
    assert item.status is CheckStatus.WARNING
    assert "HF_TOKEN" in item.remedy


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_service_is_embedded_unless_an_address_is_given(listening: str) -> None:
    """Where one is given, it is connected to."""
    requested = candidate(needs={"services": ["xmpp"]})
    embedded = only(outside_checks.check_services(requested, {}))
    assert (embedded.status, "inside the worker" in embedded.message) == (CheckStatus.OK, True)
    external = only(outside_checks.check_services(requested, {"MOSAIC_XMPP_ADDRESS": listening}))
    assert (external.status, listening in external.message) == (CheckStatus.OK, True)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "127.0.0.1", "host:port", ":5222", "127.0.0.1:999999", "a..b:1"]
)
def test_a_service_that_does_not_answer_blocks(address: str) -> None:
    """Also an address that is none; the remedy names the variable."""
    requested = candidate(needs={"services": ["my-service"]})
    item = only(outside_checks.check_services(requested, {"MOSAIC_MY_SERVICE_ADDRESS": address}))
    assert item.status is CheckStatus.BLOCKING
    assert "MOSAIC_MY_SERVICE_ADDRESS" in item.remedy


XMPP: dict[str, Any] = {
    "needs": {"services": ["xmpp"], "credentials": ["MOSAIC_XMPP_PASSWORD"]},
    "algorithms": [{"id": "ppo", "parameters": [{"name": "xmpp", "type": "str", "default": ""}]}],
}


def test_a_parameter_of_the_services_name_is_its_address(listening: str) -> None:
    """Before the variable; a word without a port is a way of the worker's own."""
    elsewhere = {"MOSAIC_XMPP_ADDRESS": "127.0.0.1:1"}
    for given in ("", "embedded", listening, f"example.org@{listening}"):
        requested = candidate(config(params={"xmpp": given}), **XMPP)
        item = only(outside_checks.check_services(requested, elsewhere))
        assert (item.status, listening in item.message) == (CheckStatus.OK, listening in given)

    needs_none = {**XMPP, "needs": {}}
    requested = candidate(config(params={"xmpp": "127.0.0.1:1"}), **needs_none)
    item = only(outside_checks.check_services(requested, {}))
    assert (item.status, "`xmpp`" in item.remedy) == (CheckStatus.BLOCKING, True)
    assert list(outside_checks.check_services(candidate(**needs_none), elsewhere)) == []


def test_a_server_without_password_is_ok(tmp_path: Path) -> None:
    """Most servers, and the embedded one, create accounts."""
    assert list(outside_checks.check_credentials(candidate(**XMPP), secrets_of(tmp_path))) == []


def test_a_missing_network_warns(fake: FakeMachine) -> None:
    """Only of a worker that needs it."""
    needy = candidate(needs={"network": True})
    assert only(outside_checks.check_network(needy, fake.machine())).status is CheckStatus.WARNING
    fake.put("proc/net/route", "Iface Destination\neth0 00000000 010200C0\n")
    assert only(outside_checks.check_network(needy, fake.machine())).status is CheckStatus.OK
    assert list(outside_checks.check_network(candidate(), fake.machine())) == []

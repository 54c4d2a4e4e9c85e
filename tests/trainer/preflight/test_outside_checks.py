"""Checks of credentials, services and the network."""

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


def make_secrets(tmp_path: Path, **environ: str) -> Secrets:
    return Secrets(Home(tmp_path / "var"), None, environ=environ)


def tracking_candidate(**wandb: Any) -> Any:
    return candidate(config(artifacts={"wandb": {"enabled": True, **wandb}}))


def test_a_missing_wandb_key_is_a_warning(tmp_path: Path) -> None:
    """Tracking will be offline; the remedy names the variable."""
    item = only(outside_checks.check_wandb(tracking_candidate(), make_secrets(tmp_path), None))
    assert item.status is CheckStatus.WARNING
    assert "offline" in item.message
    assert "WANDB_API_KEY" in item.remedy


def test_a_parameter_that_enables_tracking_needs_a_key(tmp_path: Path) -> None:
    """`track` of a script enables W&B, too."""
    track = {"name": "track", "type": "bool", "default": False}
    algorithms = [{"id": "ppo", "parameters": [track]}]
    secrets = make_secrets(tmp_path)
    requested = candidate(config(params={"track": True}), algorithms=algorithms)
    item = only(outside_checks.check_wandb(requested, secrets, None))
    assert item.status is CheckStatus.WARNING
    untracked = candidate(config(), algorithms=algorithms)
    assert list(outside_checks.check_wandb(untracked, secrets, None)) == []


def test_a_key_enables_online_tracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The .netrc entry of `wandb login` is not used, because it is not passed to runs."""
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    with_key = make_secrets(tmp_path, WANDB_API_KEY="k")
    packages = {"wandb": "0.31"}
    online = only(outside_checks.check_wandb(tracking_candidate(), with_key, packages))
    assert online.status is CheckStatus.OK
    offline = only(
        outside_checks.check_wandb(tracking_candidate(), make_secrets(tmp_path), packages)
    )
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
    """No item requests a key that is not used."""
    secrets = make_secrets(tmp_path)
    items = outside_checks.check_wandb(tracking_candidate(**wandb), secrets, {"wandb": "0.31"})
    assert [item.status for item in items] == statuses


def test_tracking_without_the_wandb_package_is_a_warning(tmp_path: Path) -> None:
    """The run would not appear in W&B."""
    secrets = make_secrets(tmp_path, WANDB_API_KEY="k")
    item = only(outside_checks.check_wandb(tracking_candidate(), secrets, {"numpy": "2.0"}))
    assert item.status is CheckStatus.WARNING
    assert "has no W&B" in item.message


def test_missing_credentials_block_by_name(tmp_path: Path) -> None:
    """The descriptor declares them as needed."""
    requested = candidate(needs={"credentials": ["OPENAI_API_KEY", "OTHER_KEY"]})
    secrets = make_secrets(tmp_path, OTHER_KEY="x")
    item = only(outside_checks.check_credentials(requested, secrets))
    assert item.status is CheckStatus.BLOCKING
    assert "`OPENAI_API_KEY`" in item.message
    assert "OTHER_KEY" not in item.message


def test_credentials_that_are_set_are_ok_and_not_shown(tmp_path: Path) -> None:
    """Only names are shown."""
    requested = candidate(needs={"credentials": ["OPENAI_API_KEY"]})
    secrets = make_secrets(tmp_path, OPENAI_API_KEY="very-secret-value")
    item = only(outside_checks.check_credentials(requested, secrets))
    assert item.status is CheckStatus.OK
    assert "very-secret-value" not in repr(item)
    assert list(outside_checks.check_credentials(candidate(), secrets)) == []


@pytest.mark.parametrize("name", ["WANDB_API_KEY", "HF_TOKEN"])
def test_the_key_of_an_unused_service_is_not_required(tmp_path: Path, name: str) -> None:
    """A worker declares the keys, but a run that neither tracks nor uploads needs none."""
    requested = candidate(needs={"credentials": [name]})
    assert list(outside_checks.check_credentials(requested, make_secrets(tmp_path))) == []
    present = only(
        outside_checks.check_credentials(requested, make_secrets(tmp_path, **{name: "x"}))
    )
    assert present.status is CheckStatus.OK


def test_an_upload_without_a_token_warns(tmp_path: Path) -> None:
    """The run can finish without the upload."""
    upload = {"name": "upload_model", "type": "bool", "default": False}
    requested = candidate(
        config(params={"upload_model": True}),
        needs={"credentials": ["HF_TOKEN"]},
        algorithms=[{"id": "ppo", "parameters": [upload]}],
    )
    item = only(outside_checks.check_credentials(requested, make_secrets(tmp_path)))
    assert item.status is CheckStatus.WARNING
    assert "HF_TOKEN" in item.remedy


@pytest.fixture
def server_address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_service_is_embedded_unless_an_address_is_given(server_address: str) -> None:
    """A given address is tested with a connection."""
    requested = candidate(needs={"services": ["xmpp"]})
    embedded = only(outside_checks.check_services(requested, {}))
    assert (embedded.status, "inside the worker" in embedded.message) == (CheckStatus.OK, True)
    external = only(
        outside_checks.check_services(requested, {"MOSAIC_XMPP_ADDRESS": server_address})
    )
    assert (external.status, server_address in external.message) == (CheckStatus.OK, True)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "127.0.0.1", "host:port", ":5222", "127.0.0.1:999999", "a..b:1"]
)
def test_an_unreachable_service_blocks(address: str) -> None:
    """Also an invalid address; the remedy names the variable."""
    requested = candidate(needs={"services": ["my-service"]})
    item = only(outside_checks.check_services(requested, {"MOSAIC_MY_SERVICE_ADDRESS": address}))
    assert item.status is CheckStatus.BLOCKING
    assert "MOSAIC_MY_SERVICE_ADDRESS" in item.remedy


XMPP: dict[str, Any] = {
    "needs": {"services": ["xmpp"], "credentials": ["MOSAIC_XMPP_PASSWORD"]},
    "algorithms": [{"id": "ppo", "parameters": [{"name": "xmpp", "type": "str", "default": ""}]}],
}


def test_a_parameter_with_the_name_of_a_service_is_its_address(server_address: str) -> None:
    """It takes precedence over the variable; a value without a port is not checked."""
    environ = {"MOSAIC_XMPP_ADDRESS": "127.0.0.1:1"}
    for given in ("", "embedded", server_address, f"example.org@{server_address}"):
        requested = candidate(config(params={"xmpp": given}), **XMPP)
        item = only(outside_checks.check_services(requested, environ))
        assert (item.status, server_address in item.message) == (
            CheckStatus.OK,
            server_address in given,
        )

    needs_none = {**XMPP, "needs": {}}
    requested = candidate(config(params={"xmpp": "127.0.0.1:1"}), **needs_none)
    item = only(outside_checks.check_services(requested, {}))
    assert (item.status, "`xmpp`" in item.remedy) == (CheckStatus.BLOCKING, True)
    assert list(outside_checks.check_services(candidate(**needs_none), environ)) == []


def test_a_server_without_password_is_ok(tmp_path: Path) -> None:
    """Most servers, including the embedded one, create accounts."""
    assert list(outside_checks.check_credentials(candidate(**XMPP), make_secrets(tmp_path))) == []


def test_a_missing_network_warns(fake: FakeMachine) -> None:
    """Only if the worker needs the network."""
    networked = candidate(needs={"network": True})
    assert (
        only(outside_checks.check_network(networked, fake.machine())).status is CheckStatus.WARNING
    )
    fake.put("proc/net/route", "Iface Destination\neth0 00000000 010200C0\n")
    assert only(outside_checks.check_network(networked, fake.machine())).status is CheckStatus.OK
    assert list(outside_checks.check_network(candidate(), fake.machine())) == []

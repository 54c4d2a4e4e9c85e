"""Secrets and settings through a real daemon: stored safely, listed by name only."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

VALUE = "f00dfeed-0123456789-secret-value"


@contextmanager
def rejected(code: str) -> Iterator[pytest.ExceptionInfo[TrainerError]]:
    with pytest.raises(TrainerError) as caught:
        yield caught
    assert caught.value.code == code
    assert VALUE not in str(caught.value)


def test_secret_value_is_never_returned(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """secrets.env is private to its owner; answers, errors and the log do not contain the value."""
    assert client.set_secret("WANDB_API_KEY", f" {VALUE}\n").source == "secrets.env"
    assert stat.S_IMODE(daemon.home.secrets.stat().st_mode) == 0o600
    assert VALUE in daemon.home.secrets.read_text()
    answers = (
        daemon.stub.ListSecrets(pb.ListSecretsRequest()),
        daemon.stub.SetSecret(pb.SetSecretRequest(name="OPENAI_API_KEY", value=VALUE)),
        daemon.stub.GetSettings(pb.GetSettingsRequest()),
    )
    for answer in answers:
        assert VALUE.encode() not in answer.SerializeToString()
    by_name = {secret.name: secret for secret in client.secrets()}
    assert by_name["OPENAI_API_KEY"].is_set
    assert not by_name["ANTHROPIC_API_KEY"].is_set
    assert by_name["HF_TOKEN"].needed_by == ("cleanrl_worker",)

    with rejected("T370"):
        client.set_secret(VALUE, VALUE)  # pasted into the wrong field
    with rejected("T370"):
        client.set_secret("A_KEY", VALUE + "\0")

    removed = client.remove_secret("WANDB_API_KEY")
    assert not removed.is_set
    assert not removed.is_kept
    assert stat.S_IMODE(daemon.home.secrets.stat().st_mode) == 0o600
    log = (daemon.home.logs / "daemon.log").read_text()
    assert "T468 secret WANDB_API_KEY was removed" in log
    assert VALUE not in log


def test_secret_reports_its_source(daemon: DaemonUnderTest) -> None:
    """A secret in the environment stays set after its removal from secrets.env."""
    daemon.environment["HF_TOKEN"] = VALUE
    daemon.restart()
    with TrainerClient.connect(daemon.home) as client:
        assert client.set_secret("HF_TOKEN", "another-token").source == "secrets.env"
        remaining = client.remove_secret("HF_TOKEN")
        assert (remaining.is_set, remaining.source, remaining.is_kept) == (
            True,
            "environment",
            False,
        )


def test_settings_are_changed_now_or_after_a_restart(
    daemon: DaemonUnderTest, client: TrainerClient
) -> None:
    """Retention takes effect immediately, others after a restart; a wrong value changes nothing."""
    view = client.change_settings(retention_max_gb=20, max_runs=3)
    assert view.in_force.retention_max_gb == 20
    assert client.retention().max_gb == 20
    assert view.in_force.max_runs == 64
    assert view.waiting == ("max_runs",)
    with rejected("T370"):
        client.change_settings(retention_keep_days=30, port=70_000)
    assert client.settings() == view

    client.close()
    daemon.restart()
    with TrainerClient.connect(daemon.home) as again:
        view = again.settings()
        assert (view.in_force.max_runs, view.waiting) == (3, ())
        assert again.change_settings(retention_max_gb=None).in_force.retention_max_gb is None


def test_invalid_settings_file(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """The error describes the file, not the value that was sent."""
    daemon.home.settings.write_text('port = "eighty"\n')
    with rejected("T301") as caught:
        client.settings()
    assert "port" in caught.value.message
    with rejected("T301"):
        client.change_settings(max_runs=3)
    assert client.change_settings(port=None).stored.port is None


def test_invalid_secret_names(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """PATH is not changed; an entry that a user wrote into the file can be removed."""
    with rejected("T370"):
        client.set_secret("PATH", VALUE)
    daemon.home.secrets.touch(mode=0o600)
    daemon.home.secrets.write_text(f"my_key={VALUE}\n")
    assert not client.remove_secret("my_key").is_set
    assert VALUE not in daemon.home.secrets.read_text()

"""Errors sent to clients: a code, a message and a remedy, limited in size, no secrets."""

import errno
import logging
import sqlite3
from urllib.parse import unquote

import grpc
import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.run_config import RunConfigError, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.control_channel import ControlChannelFullError, worker_not_running
from mosaic.trainer.registry.errors import RunExistsError, StateConflictError, UnknownRunError
from mosaic.trainer.service.errors import CODE_KEY, REMEDY_KEY, to_rpc_error


def _config_error() -> RunConfigError:
    with pytest.raises(RunConfigError) as caught:
        load_run_config(b"{}")
    return caught.value


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownRunError("x"), grpc.StatusCode.NOT_FOUND),
        (
            StateConflictError("x", RunState.LOST, RunState.RUNNING),
            grpc.StatusCode.FAILED_PRECONDITION,
        ),
        (_config_error(), grpc.StatusCode.INVALID_ARGUMENT),
        (ControlChannelFullError("x"), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (worker_not_running("x"), grpc.StatusCode.FAILED_PRECONDITION),
        (RunExistsError("x"), grpc.StatusCode.ALREADY_EXISTS),
        (UserError("x", remedy="y"), grpc.StatusCode.FAILED_PRECONDITION),
        (OSError(errno.ENOSPC, "full"), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (OSError(errno.EIO, "broken"), grpc.StatusCode.INTERNAL),
        (sqlite3.ProgrammingError("a bug"), grpc.StatusCode.INTERNAL),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_status(error: Exception, status: grpc.StatusCode) -> None:
    """Clients distinguish errors by gRPC status codes."""
    assert to_rpc_error(error, str).status is status


def test_a_full_disk_as_the_cause_of_another_error() -> None:
    """An error caused by ENOSPC has the status RESOURCE_EXHAUSTED."""
    error = UserError("It cannot be written.", remedy="Free some space.")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert to_rpc_error(error, str).status is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_bug_is_logged_and_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    """The client gets the name of the log, which has the traceback; no detail is sent."""
    with caplog.at_level(logging.ERROR):
        rpc_error = to_rpc_error(KeyError("a private detail"), str)
    assert rpc_error.status is grpc.StatusCode.INTERNAL
    assert "daemon.log" in rpc_error.message
    assert "private detail" not in str(rpc_error)
    assert "a private detail" in caplog.text


def test_secrets_are_redacted() -> None:
    """Also in the remedy."""
    error = UserError("The key hunter22 is wrong.", remedy="Replace hunter22.", code="T999")
    rpc_error = to_rpc_error(error, lambda text: text.replace("hunter22", "[secret KEY]"))
    assert "hunter22" not in str(rpc_error)
    assert dict(rpc_error.metadata)[CODE_KEY] == "T999"


@pytest.mark.parametrize("letter", ["a", "ü", "漢", "\U0001f600", "\ud800", "\0", "\n"])
def test_any_message_fits_into_the_status(letter: str) -> None:
    """Long messages, any script and control characters do not make gRPC drop the status."""
    rpc_error = to_rpc_error(UserError(letter * 50_000, remedy=letter * 50_000), str)
    metadata = dict(rpc_error.metadata)
    assert len(rpc_error.message) <= 2_010
    assert len(rpc_error.message.encode()) * 3 + len(metadata[REMEDY_KEY]) < 16_000
    assert metadata[REMEDY_KEY].isascii()
    assert unquote(metadata[REMEDY_KEY]).isprintable() or letter == "\n"
    assert "\0" not in rpc_error.message

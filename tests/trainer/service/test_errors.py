"""Errors that clients get: a code, a message, a remedy; never a secret, limited in size."""

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
def test_each_kind_of_error_has_its_code(error: Exception, status: grpc.StatusCode) -> None:
    """Programs distinguish errors by gRPC's status codes."""
    assert to_rpc_error(error, str).status is status


def test_a_full_disk_behind_another_error() -> None:
    """What cannot be written for lack of room says so, whatever it was."""
    error = UserError("It cannot be written.", remedy="Free some space.")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert to_rpc_error(error, str).status is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_bug_is_logged_and_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    """The client learns where to look, the log has the traceback, and no detail leaks."""
    with caplog.at_level(logging.ERROR):
        rejection = to_rpc_error(KeyError("a private detail"), str)
    assert rejection.status is grpc.StatusCode.INTERNAL
    assert "daemon.log" in rejection.message
    assert "private detail" not in str(rejection)
    assert "a private detail" in caplog.text


def test_secrets_are_taken_out() -> None:
    """Also out of the remedy."""
    error = UserError("The key hunter22 is wrong.", remedy="Replace hunter22.", code="T999")
    rejection = to_rpc_error(error, lambda text: text.replace("hunter22", "[secret KEY]"))
    assert "hunter22" not in str(rejection)
    assert dict(rejection.metadata)[CODE_KEY] == "T999"


@pytest.mark.parametrize("letter", ["a", "ü", "漢", "\U0001f600", "\ud800", "\0", "\n"])
def test_any_message_fits_the_status(letter: str) -> None:
    """Neither length nor script nor control characters make gRPC drop the status."""
    rejection = to_rpc_error(UserError(letter * 50_000, remedy=letter * 50_000), str)
    metadata = dict(rejection.metadata)
    assert len(rejection.message) <= 2_010
    assert len(rejection.message.encode()) * 3 + len(metadata[REMEDY_KEY]) < 16_000
    assert metadata[REMEDY_KEY].isascii()
    assert unquote(metadata[REMEDY_KEY]).isprintable() or letter == "\n"
    assert "\0" not in rejection.message

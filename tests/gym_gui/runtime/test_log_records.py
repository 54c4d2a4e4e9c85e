"""Parsing of log lines into records with time, severity, code and details."""

import time
from pathlib import Path

from gym_gui.runtime.log_records import (
    RunLogOrigin,
    Severity,
    code_meanings,
    daemon_records,
    event_record,
    worker_records,
)
from mosaic.contract.events import Log

RUN = RunLogOrigin(component="echo_worker 1234", run_id="01J", at=5.0, is_live=False)


def test_daemon_lines_are_parsed_with_their_traceback() -> None:
    """Lines without a header belong to the record before them."""
    records = daemon_records(
        [
            "2026-11-16 10:16:33,551 INFO     mosaic.trainer.daemon: T395 the daemon is ready",
            "2026-11-16 10:16:34,000 ERROR    mosaic.trainer.x: T374 an internal error",
            "Traceback (most recent call last):",
            "ValueError: no",
        ]
    )
    assert [(record.severity, record.code, record.message) for record in records] == [
        (Severity.INFO, "T395", "the daemon is ready"),
        (Severity.ERROR, "T374", "an internal error"),
    ]
    assert records[0].time_text == "10:16:33.551"
    assert "ValueError: no" in records[1].details
    assert "no" in records[1].lowered


def test_the_severity_of_worker_output() -> None:
    """A traceback is one error; prefixes mark warnings and errors; other lines are info."""
    records = worker_records(
        [
            "global_step=100, error 0.2",
            "/lib/x.py:12: UserWarning: deprecated",
            "WARNING:root:careful",
            "",
            "Traceback (most recent call last):",
            '  File "ppo.py", line 8, in <module>',
            "ModuleNotFoundError: No module named 'gym'",
            "W201 after the traceback",
        ],
        RUN,
    )
    assert [record.severity.name for record in records] == [
        "INFO",
        "WARNING",
        "WARNING",
        "ERROR",
        "INFO",
    ]
    assert records[3].message == "ModuleNotFoundError: No module named 'gym'"
    assert "ppo.py" in records[3].details
    assert (records[4].code, records[4].message) == ("W201", "after the traceback")
    assert records[0].time_text == ""


def test_a_log_event_keeps_its_fields() -> None:
    """Level, code and fields are in the record and in its text."""
    event = Log(level="warning", code="W310", message="no GPU", fields={"device": "cpu"})
    record = event_record(event, RUN)
    assert record.severity is Severity.WARNING
    text = record.as_text()
    assert "W310 no GPU" in text
    assert "run 01J" in text
    assert '"device": "cpu"' in text


def test_code_meanings_are_read_from_the_documentation(tmp_path: Path) -> None:
    """A missing page is not an error."""
    page = tmp_path / "log-codes.md"
    assert code_meanings(page) == {}
    page.write_text("| code | x | y |\n|---|---|---|\n| `T1` | no |\n| `T395` | ready | `a.py` |\n")
    assert code_meanings(page) == {"T395": "ready"}


def test_daemon_times_are_local() -> None:
    """The daemon writes local time."""
    now = time.time()
    line = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)) + ",000 INFO     x: hello"
    assert abs(daemon_records([line])[0].at - now) < 2

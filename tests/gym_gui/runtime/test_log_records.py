"""Lines of every log become records with time, severity, code and what belongs to them."""

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


def test_a_daemon_line_is_taken_apart_and_keeps_its_traceback() -> None:
    """Lines without a head belong to the record before them."""
    records = daemon_records(
        [
            "2026-11-16 10:16:33,551 INFO     mosaic.trainer.daemon: T395 the daemon serves it",
            "2026-11-16 10:16:34,000 ERROR    mosaic.trainer.x: T374 a call failed by a bug",
            "Traceback (most recent call last):",
            "ValueError: no",
        ]
    )
    assert [(each.severity, each.code, each.message) for each in records] == [
        (Severity.INFO, "T395", "the daemon serves it"),
        (Severity.ERROR, "T374", "a call failed by a bug"),
    ]
    assert records[0].time_text == "10:16:33.551"
    assert "ValueError: no" in records[1].details
    assert "no" in records[1].lowered


def test_what_a_worker_prints_is_judged_by_its_words() -> None:
    """A traceback is one error; warnings and errors say so; other lines are information."""
    records = worker_records(
        [
            "global_step=100, error 0.2",
            "/lib/x.py:12: UserWarning: this is old",
            "WARNING:root:careful",
            "",
            "Traceback (most recent call last):",
            '  File "ppo.py", line 8, in <module>',
            "ModuleNotFoundError: No module named 'gym'",
            "W201 after it",
        ],
        RUN,
    )
    assert [each.severity.name for each in records] == [
        "INFO",
        "WARNING",
        "WARNING",
        "ERROR",
        "INFO",
    ]
    assert records[3].message == "ModuleNotFoundError: No module named 'gym'"
    assert "ppo.py" in records[3].details
    assert (records[4].code, records[4].message) == ("W201", "after it")
    assert records[0].time_text == ""


def test_a_log_event_keeps_its_fields() -> None:
    """Level, code and fields of an event are those of the record, and it can be copied whole."""
    event = Log(level="warning", code="W310", message="no GPU", fields={"device": "cpu"})
    record = event_record(event, RUN)
    assert record.severity is Severity.WARNING
    text = record.as_text()
    assert "W310 no GPU" in text
    assert "run 01J" in text
    assert '"device": "cpu"' in text


def test_codes_are_explained_by_the_page_of_codes(tmp_path: Path) -> None:
    """Without the page nothing is explained, and nothing fails."""
    page = tmp_path / "log-codes.md"
    assert code_meanings(page) == {}
    page.write_text(
        "| code | x | y |\n|---|---|---|\n| `T1` | no |\n| `T395` | it serves | `a.py` |\n"
    )
    assert code_meanings(page) == {"T395": "it serves"}


def test_times_are_of_this_place() -> None:
    """The daemon writes local time, so a record's time is the same moment."""
    now = time.time()
    line = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)) + ",000 INFO     x: hello"
    assert abs(daemon_records([line])[0].at - now) < 2

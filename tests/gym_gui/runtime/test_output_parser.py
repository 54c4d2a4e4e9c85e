"""OutputParser: output lines of a worker, each on one line and limited in length."""

from gym_gui.runtime.log_records import OutputParser, RunDaemonParser, Severity


def test_unterminated_escape_sequences() -> None:
    """Many unterminated title sequences do not block Python for minutes."""
    parse = OutputParser()
    assert parse("\x1b]" * 200_000 + "the end").message == "the end"
    assert parse("\x1b]0;a title\x07red: \x1b[31mhot\x1b[0m").message == "red: hot"
    assert parse("\x1b]8;;link\x1b\\word").message == "word"


def test_long_lines_are_truncated_with_a_note() -> None:
    """Also text that a progress bar has overwritten."""
    line = OutputParser()("x" * 1_000_000)
    assert len(line.message) < 70_000
    assert line.message.endswith("… (1,000,000 characters; the log file has them all)")
    bar = OutputParser()("50 %\r" * 100_000 + "100 %")
    assert bar.message == "100 %"
    assert len(bar.details) < 70_000


def test_invisible_characters_are_removed() -> None:
    """Control characters, line separators and bidirectional marks are removed; tabs stay."""
    assert OutputParser()("a\u2028b\u202ec\x00d\te").message == "abcd    e"


def test_traceback_lines_are_numbered_errors() -> None:
    """Each line is a record of its own, and the line after the exception is not an error."""
    parse = OutputParser()
    lines = ("Traceback (most recent call last):", "  File x", "ValueError: no", "after")
    records = [parse(line) for line in lines]
    assert [record.severity for record in records] == [Severity.ERROR] * 3 + [Severity.INFO]
    assert [record.number for record in records] == [1, 2, 3, 4]


def test_daemon_lines_of_another_run_are_skipped() -> None:
    """Continuation lines belong to the line before them."""
    parse = RunDaemonParser("01RUN")
    prefix = "2026-01-02 03:04:05,678 ERROR   mosaic.trainer:"
    own = parse(f"{prefix} T395 01RUN failed")
    assert own is not None
    assert (own.code, own.message, own.severity) == ("T395", "01RUN failed", Severity.ERROR)
    below = parse("  File x")
    assert below is not None
    assert (below.message, below.severity, below.has_time) == ("  File x", Severity.ERROR, False)
    assert parse(f"{prefix} T395 01OTHER failed") is None
    assert parse("  File y") is None

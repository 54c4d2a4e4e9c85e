"""Lines of a worker's output: each on one line, and limited in length."""

from gym_gui.run_page.feed.run_log_feed import OutputLines


def test_unterminated_escape_sequences() -> None:
    """Many unterminated title sequences do not block Python for minutes."""
    parse = OutputLines()
    assert parse("\x1b]" * 200_000 + "the end").text == "the end"
    assert parse("\x1b]0;a title\x07red: \x1b[31mhot\x1b[0m").text == "red: hot"
    assert parse("\x1b]8;;link\x1b\\word").text == "word"


def test_long_lines_are_truncated_with_a_note() -> None:
    """Also text that a progress bar has overwritten."""
    line = OutputLines()("x" * 1_000_000)
    assert len(line.text) < 70_000
    assert line.text.endswith("… (1,000,000 characters; the log file has them all)")
    bar = OutputLines()("50 %\r" * 100_000 + "100 %")
    assert bar.text == "100 %"
    assert len(bar.more) < 70_000


def test_invisible_characters_are_removed() -> None:
    """Control characters, line separators and bidirectional marks are removed; tabs stay."""
    assert OutputLines()("a\u2028b\u202ec\x00d\te").text == "abcd    e"

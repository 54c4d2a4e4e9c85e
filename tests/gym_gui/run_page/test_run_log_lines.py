"""Lines of a worker's output, whatever it prints: each on one line, and not too long."""

from gym_gui.run_page.feed.run_log_feed import OutputLines


def test_escape_characters_without_an_end() -> None:
    """A hundred thousand beginnings of a title do not keep Python busy for minutes."""
    judge = OutputLines()
    assert judge("\x1b]" * 200_000 + "the end").text == "the end"
    assert judge("\x1b]0;a title\x07red: \x1b[31mhot\x1b[0m").text == "red: hot"
    assert judge("\x1b]8;;link\x1b\\word").text == "word"


def test_very_long_lines_are_cut_and_say_so() -> None:
    """Also what a progress bar has written over."""
    line = OutputLines()("x" * 1_000_000)
    assert len(line.text) < 70_000
    assert line.text.endswith("… (1,000,000 characters; the log file has them all)")
    bar = OutputLines()("50 %\r" * 100_000 + "100 %")
    assert bar.text == "100 %"
    assert len(bar.more) < 70_000


def test_nothing_breaks_or_turns_a_line() -> None:
    """Control characters, line separators and marks of direction are left out; tabs stay."""
    assert OutputLines()("a\u2028b\u202ec\x00d\te").text == "abcd    e"

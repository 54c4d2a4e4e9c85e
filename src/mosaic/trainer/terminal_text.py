"""Text of processes without what a terminal would obey: colours, titles, movements, commands.

The registry asks for it before it stores a text, and the end of a run's output comes through here.
"""

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"  # all other sequences
)
# Control characters but newline and tab, line separators, and marks that turn the direction.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain_text(text: str) -> str:
    """`text` of any number of lines, harmless to show; a new line and a tab stay."""
    return text if text.isprintable() else _CONTROL.sub("", _ESCAPES.sub("", text))


def plain_line(text: str) -> str:
    """`text` as one line; what is behind the end of a line stands behind a space."""
    return " ".join(plain_text(text).split("\n"))

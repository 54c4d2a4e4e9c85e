"""Says why a script ended, in words for the person who started it."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD_FLAG = 2
_LINES_SHOWN = 12
_LETTERS_SHOWN = 300
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'")
_ENVIRONMENT = re.compile(r"gymnasium\.error\.(?:NameNotFound|NamespaceNotFound|VersionNotFound)")


def script_failure(code: int, last_lines: Sequence[str], words: Sequence[str]) -> WorkerError:
    """The error for a script that did not end well: a negative `code` is a signal."""
    if code < 0:
        message = f"The script was ended by {_signal_name(-code)}."
    else:
        message = f"The script ended with exit code {code}."
    shown = [line[:_LETTERS_SHOWN] for line in list(last_lines)[-_LINES_SHOWN:]]
    said = "\n".join(shown)
    ending = f"\nIts last lines:\n{said}\n" if shown else " It printed nothing."
    return WorkerError(f"{message}{ending}", remedy=_remedy(code, said, words))


def _remedy(code: int, said: str, words: Sequence[str]) -> str:
    missing = _MISSING.search(said)
    if missing:
        return (
            f"Install the package that brings the module {missing['module']} into the script's "
            "environment, or use a version of the script that does without."
        )
    if _ENVIRONMENT.search(said):
        return "Check the id of the environment, and that its package is installed."
    if code == _BAD_FLAG:
        return f"Its flags were: {' '.join(words)}. Correct the one that it names."
    if code == -signal.SIGKILL:
        return (
            "Most likely there was not enough memory: use fewer environments or a smaller buffer."
        )
    return "All of its output is in the run's log."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

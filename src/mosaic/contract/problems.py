"""What is wrong with a document, field by field, in words for the person who wrote it.

Every reader of this package (run configuration, descriptor, manifest, `worker.toml`) collects
`Problem`s and raises one `DocumentError` that holds them all.
"""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mosaic.contract.errors import UserError

Path = tuple[str | int, ...]
ProblemKind = Literal["unknown", "missing", "type", "value", "secret", "document"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_LONGEST_KEY_SHOWN = 60
_MOST_PROBLEMS_SHOWN = 20
MOST_PROBLEMS = 100
"""Where a reader stops looking: who made that many has seen enough, and hostile input ends."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One field that is not as it must be: `message` says how, `remedy` what to do."""

    path: Path
    kind: ProblemKind
    message: str
    remedy: str
    code: str = ""

    @property
    def field(self) -> str:
        """The field's name as a path, such as `artifacts.video.every_episodes`."""
        return render_path(self.path)

    @property
    def sentence(self) -> str:
        """Which field is how."""
        return f"`{self.field}` {self.message}" if self.path else f"the document {self.message}"

    def __str__(self) -> str:
        return " ".join(part for part in (self.code, self.sentence, self.remedy) if part)


class DocumentError(UserError):
    """A document was refused; `problems` has every reason that was found."""

    document = "document"
    default_code = ""

    def __init__(self, problems: Sequence[Problem], *, source: str = "") -> None:
        self.problems = tuple(problems)
        codes = [problem.code for problem in self.problems if problem.code]
        message, remedy = _summary(f"{self.document} {source}".strip(), self.problems)
        super().__init__(message, remedy=remedy, code=codes[0] if codes else self.default_code)


def _summary(what: str, problems: tuple[Problem, ...]) -> tuple[str, str]:
    if len(problems) == 1:
        return f"In the {what}: {problems[0].sentence}", problems[0].remedy
    lines = [f"  {problem}" for problem in problems[:_MOST_PROBLEMS_SHOWN]]
    hidden = len(problems) - len(lines)
    if hidden:
        lines.append(f"  … and {hidden} more.")
    listing = "\n".join(lines)
    count = f"{len(problems)} problems" if len(problems) < MOST_PROBLEMS else "Many problems"
    return f"{count} in the {what}:\n{listing}", "Correct these and try again."


def render_path(path: Path) -> str:
    """`path` as people write it. Keys are escaped and cut, so that none can spoil a terminal."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif _PLAIN_KEY.match(part) and len(part) <= _LONGEST_KEY_SHOWN:
            parts.append(f".{part}" if parts else part)
        else:
            parts.append(f"[{_quoted_key(part)}]")
    return "".join(parts)


def _quoted_key(key: str) -> str:
    # A key such as `--api-key=…` must not carry its value into a message.
    name, equals, _ = key.partition("=")
    shown = name[:_LONGEST_KEY_SHOWN] + ("…" if equals or len(name) > _LONGEST_KEY_SHOWN else "")
    escaped = json.dumps(shown, ensure_ascii=not shown.isprintable())
    return escaped.replace("`", "'")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be."""
    by_folded = {_folded(candidate): candidate for candidate in known}
    matches = difflib.get_close_matches(_folded(word[:_LONGEST_KEY_SHOWN]), by_folded, n=1)
    return by_folded[matches[0]] if matches else None


def _folded(word: str) -> str:
    return word.lower().replace("-", "_")

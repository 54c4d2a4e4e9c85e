"""Problems of a document, field by field, with messages for its author.

Every reader of this package (run configuration, descriptor, manifest, `worker.toml`) collects
`Problem`s and raises one `DocumentError` with all of them.
"""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mosaic.contract.errors import UserError

Path = tuple[str | int, ...]
ProblemKind = Literal["unknown", "missing", "type", "value", "secret", "document"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_MAX_KEY_LENGTH = 60
_MAX_PROBLEMS_LISTED = 20
MAX_PROBLEMS = 100
"""Where validation stops, which also bounds the time that malicious input takes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One invalid field: `message` says what is wrong, `remedy` what to do."""

    path: Path
    kind: ProblemKind
    message: str
    remedy: str
    code: str = ""

    @property
    def field(self) -> str:
        """Path of the field, such as `artifacts.video.every_episodes`."""
        return render_path(self.path)

    @property
    def sentence(self) -> str:
        """The field and the message as one sentence."""
        return f"`{self.field}` {self.message}" if self.path else f"the document {self.message}"

    def __str__(self) -> str:
        return " ".join(part for part in (self.code, self.sentence, self.remedy) if part)


class DocumentError(UserError):
    """A document is invalid; `problems` lists why.

    `document` says what kind of document it is, and `source` which one. The code is that of the
    first problem with a code, else `code`. A subclass, for callers that catch it, has its own
    `document` and `default_code`.
    """

    document = "document"
    default_code = ""

    def __init__(
        self, problems: Sequence[Problem], *, source: str = "", document: str = "", code: str = ""
    ) -> None:
        self.problems = tuple(problems)
        codes = [problem.code for problem in self.problems if problem.code]
        kind = document or self.document
        message, remedy = _summary(f"{kind} {source}".strip(), self.problems)
        super().__init__(
            message, remedy=remedy, code=codes[0] if codes else code or self.default_code
        )


class MakeDocumentError(Protocol):
    """A subclass of `DocumentError`, or a function that returns one."""

    def __call__(self, problems: Sequence[Problem], *, source: str = "") -> DocumentError: ...


def _summary(what: str, problems: tuple[Problem, ...]) -> tuple[str, str]:
    if len(problems) == 1:
        return f"In the {what}: {problems[0].sentence}", problems[0].remedy
    lines = [f"  {problem}" for problem in problems[:_MAX_PROBLEMS_LISTED]]
    hidden = len(problems) - len(lines)
    if hidden:
        lines.append(f"  … and {hidden} more.")
    listing = "\n".join(lines)
    count = f"{len(problems)} problems" if len(problems) < MAX_PROBLEMS else "Many problems"
    return f"{count} in the {what}:\n{listing}", "Correct these and try again."


def render_path(path: Path) -> str:
    """Format a path. Keys are escaped and truncated, so that none can corrupt a terminal."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif _PLAIN_KEY.match(part) and len(part) <= _MAX_KEY_LENGTH:
            parts.append(f".{part}" if parts else part)
        else:
            parts.append(f"[{_quote_key(part)}]")
    return "".join(parts)


def _quote_key(key: str) -> str:
    # The message must not show the value in a key such as `--api-key=…`.
    name, equals, _ = key.partition("=")
    visible = name[:_MAX_KEY_LENGTH] + ("…" if equals or len(name) > _MAX_KEY_LENGTH else "")
    escaped = json.dumps(visible, ensure_ascii=not visible.isprintable())
    return escaped.replace("`", "'")


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word of which `word` is probably a misspelling, or None."""
    by_normalise = {_normalise(candidate): candidate for candidate in known}
    matches = difflib.get_close_matches(_normalise(word[:_MAX_KEY_LENGTH]), by_normalise, n=1)
    return by_normalise[matches[0]] if matches else None


def _normalise(word: str) -> str:
    return word.lower().replace("-", "_")

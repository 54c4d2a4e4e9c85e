"""Rules for text in the registry.

Text of processes (reasons, warnings, output) is never rejected: it is truncated, and terminal
control sequences are removed. Text of users (names, tags, notes) is validated: the `checked_*`
functions raise `InvalidFieldError`.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from mosaic.contract.text_types import Name
from mosaic.contract.validation import describe_type
from mosaic.trainer.registry.errors import InvalidFieldError, quote_text

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"  # all other sequences
)
# Control characters but newline and tab, line separators, and marks that change the direction.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain_text(text: str) -> str:
    """`text` without control sequences; line breaks and tabs stay."""
    return text if text.isprintable() else _CONTROL.sub("", _ESCAPES.sub("", text))


def plain_line(text: str) -> str:
    """`text` as one line; line breaks become spaces."""
    return " ".join(plain_text(text).split("\n"))


_MAX_TEXT_LENGTH = 2_000
_TAIL_LINES = 50
_MAX_LINE_LENGTH = 2_000


def storable(text: str, max_length: int = _MAX_TEXT_LENGTH) -> str:
    """`text` without control sequences and invalid characters, truncated to `max_length`."""
    plain = plain_text(text.encode("utf-8", "replace").decode("utf-8"))
    return plain if len(plain) <= max_length else plain[: max_length - 1] + "…"


def storable_tail(lines: Sequence[str]) -> tuple[str, ...]:
    """The last lines of a run's output, truncated."""
    return tuple(storable(plain_line(line), _MAX_LINE_LENGTH) for line in lines[-_TAIL_LINES:])


def storable_all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(storable(text) for text in texts)


MAX_TAG_LENGTH = 100
MAX_TAGS = 50
MAX_NOTE_LENGTH = 10_000

# Control characters, marks that change the direction of writing, and surrogates.
_NOT_IN_A_NOTE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def checked_name(name: str) -> str:
    """`name` without surrounding space; empty removes the run's name."""
    name = name.strip()
    if name and not _is_name(name):
        raise InvalidFieldError("name", "is not valid text.", _use(describe_type(Name)))
    return name


def checked_request_id(request_id: str) -> str:
    if request_id and not _is_name(request_id):
        raise InvalidFieldError("request_id", "is not valid text.", _use(describe_type(Name)))
    return request_id


def checked_tags(field: str, tags: Iterable[str]) -> set[str]:
    """`tags`, each without surrounding space."""
    stripped = {tag.strip() for tag in tags}
    for tag in stripped:
        if len(tag) > MAX_TAG_LENGTH or not _is_name(tag):
            raise InvalidFieldError(
                field,
                f"has the invalid tag '{quote_text(tag)}'.",
                _use(f"text of 1 to {MAX_TAG_LENGTH} characters without control characters"),
            )
    return stripped


def check_tag_count(tags: set[str]) -> None:
    if len(tags) > MAX_TAGS:
        raise InvalidFieldError(
            "add_tags",
            f"would give the run {len(tags)} tags.",
            f"The maximum is {MAX_TAGS}; remove some first.",
        )


def checked_note(note: str) -> str:
    if len(note) > MAX_NOTE_LENGTH:
        raise InvalidFieldError(
            "note",
            f"has {len(note):,} characters.",
            f"Use at most {MAX_NOTE_LENGTH:,}; put longer texts into a file.",
        )
    if _NOT_IN_A_NOTE.search(note):
        raise InvalidFieldError(
            "note", "has control characters.", "Use plain text; line breaks and tabs are allowed."
        )
    return note


def _is_name(text: str) -> bool:
    try:
        msgspec.convert(text, Name)
        text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _use(description: str) -> str:
    return f"Use {description}."

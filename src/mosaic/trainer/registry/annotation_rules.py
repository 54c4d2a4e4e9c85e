"""What a person may write on a run: name, tags, note. The registry asks before it stores them."""

import re
from collections.abc import Iterable

import msgspec

from mosaic.contract.text_types import Name
from mosaic.contract.validation import describe_type
from mosaic.trainer.registry.failures import RefusedFieldError
from mosaic.trainer.registry.stored_text import shown

LONGEST_TAG = 100
MOST_TAGS = 50
LONGEST_NOTE = 10_000

# What a terminal would obey, marks that turn the direction of writing, and what is no character.
_NOT_IN_A_NOTE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def checked_name(name: str) -> str:
    """`name` without the space around it; empty takes the run's name away."""
    name = name.strip()
    if name and not _is_name(name):
        raise RefusedFieldError(
            "name", "is text that is not allowed here.", _give(describe_type(Name))
        )
    return name


def checked_request_id(request_id: str) -> str:
    if request_id and not _is_name(request_id):
        raise RefusedFieldError(
            "request_id", "is text that is not allowed here.", _give(describe_type(Name))
        )
    return request_id


def checked_tags(field: str, tags: Iterable[str]) -> set[str]:
    """`tags`, each without the space around it."""
    stripped = {tag.strip() for tag in tags}
    for tag in stripped:
        if len(tag) > LONGEST_TAG or not _is_name(tag):
            raise RefusedFieldError(
                field,
                f"has the tag '{shown(tag)}', which is not allowed.",
                _give(f"text of 1 to {LONGEST_TAG} characters without control characters"),
            )
    return stripped


def check_tag_count(tags: set[str]) -> None:
    if len(tags) > MOST_TAGS:
        raise RefusedFieldError(
            "add_tags",
            f"would give the run {len(tags)} tags.",
            f"A run has at most {MOST_TAGS}; remove some first.",
        )


def checked_note(note: str) -> str:
    if len(note) > LONGEST_NOTE:
        raise RefusedFieldError(
            "note",
            f"has {len(note):,} characters.",
            f"Give at most {LONGEST_NOTE:,}; longer texts belong into a file.",
        )
    if _NOT_IN_A_NOTE.search(note):
        raise RefusedFieldError(
            "note", "has control characters.", "Give plain text; new lines and tabs are fine."
        )
    return note


def _is_name(text: str) -> bool:
    try:
        msgspec.convert(text, Name)
        text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _give(words: str) -> str:
    return f"Give {words}."

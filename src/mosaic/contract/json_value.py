"""JSON values that are safe to store: bounded in size and depth, finite, free of secrets."""

import math
from collections.abc import Callable
from typing import Any

import msgspec

from mosaic.contract.problems import MAX_PROBLEMS, Path, Problem
from mosaic.contract.secret_detection import contains_secret, is_secret_name

MAX_DOCUMENT_BYTES = 1 << 20
MAX_DEPTH = 64
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
"""Range of the integers that SQLite can store."""
SECRET_REJECTED = "C102"  # noqa: S105 - an error code, not a secret
"""A document that would be stored contains a secret."""

# Every value takes at least two bytes, with its comma: more cannot fit the limit.
_MAX_VALUES = MAX_DOCUMENT_BYTES // 2
TOO_LARGE = Problem(
    (),
    "document",
    f"is larger than {MAX_DOCUMENT_BYTES // 1024} KiB.",
    "Store large data in a separate file and give its path.",
)


def parse_json(data: bytes) -> tuple[Any, list[Problem]]:
    """Parse `data`; returns the value, or the problem that makes it invalid JSON."""
    if len(data) > MAX_DOCUMENT_BYTES:
        return None, [TOO_LARGE]
    try:
        return msgspec.json.decode(data), []
    except RecursionError:
        reason = "it is nested too deeply"
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except msgspec.DecodeError as error:
        reason = str(error)
    message = f"is not JSON: {reason}."
    return None, [Problem((), "document", message, "Expected one JSON object, encoded as UTF-8.")]


def copy_json(value: Any, *, reject_secrets: bool = False) -> tuple[Any, list[Problem]]:
    """Copy `value` into plain JSON types; returns the copy and what cannot be stored.

    Accepts any value: cycles end at the depth limit, shared references at the size limit.
    """
    copier = _Copier(reject_secrets)
    copied = copier.copy(value, ())
    return copied, copier.problems


class _Copier:
    def __init__(self, reject_secrets: bool) -> None:
        self.problems: list[Problem] = []
        self._reject_secrets = reject_secrets
        self._values_left = _MAX_VALUES

    def copy(self, value: Any, path: Path) -> Any:
        self._values_left -= 1
        if self._values_left == -1:
            self.problems.append(TOO_LARGE)
        if self._values_left < 0 or len(self.problems) >= MAX_PROBLEMS:
            return None
        for kind, copy_kind in self._KINDS:
            if isinstance(value, kind):
                return copy_kind(self, value, path)
        self._reject(
            path,
            f"is a Python {type(value).__name__}, which JSON cannot represent.",
            "Expected text, a number, true, false, null, a list or an object.",
        )
        return None

    def _reject(self, path: Path, message: str, remedy: str) -> None:
        self.problems.append(Problem(path, "value", message, remedy))

    def _copy_constant(self, value: bool | None, _path: Path) -> bool | None:
        return value

    def _copy_int(self, value: int, path: Path) -> int | None:
        if INT64_MIN <= value <= INT64_MAX:
            return int(value)
        self._reject(
            path, "is an integer beyond 64 bits.", "Use a smaller number, or write it as text."
        )
        return None

    def _copy_float(self, value: float, path: Path) -> float | None:
        if math.isfinite(value):
            return float(value)
        self._reject(path, "is not a finite number.", "Use a finite number or null.")
        return None

    def _copy_text(self, value: str, path: Path) -> str | None:
        if not _is_storable(value):
            self._reject(path, "contains a NUL or an unpaired surrogate.", "Remove that character.")
            return None
        if self._reject_secrets and contains_secret(value):
            self._reject_secret(path)
        return str.__str__(value)  # an enumeration's value, not its name

    def _copy_list(self, value: list[Any] | tuple[Any, ...], path: Path) -> list[Any] | None:
        if len(path) >= MAX_DEPTH:
            self._reject_depth(path)
            return None
        return [self.copy(item, (*path, index)) for index, item in enumerate(value)]

    def _copy_object(self, value: dict[Any, Any], path: Path) -> dict[str, Any] | None:
        if len(path) >= MAX_DEPTH:
            self._reject_depth(path)
            return None
        copied: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str) or not _is_storable(key):
                self._reject(
                    path, "has a key that is not valid text.", "Use plain text for every key."
                )
                continue
            name = str.__str__(key)
            item_path = (*path, name)
            if self._reject_secrets and (is_secret_name(name) or contains_secret(name)):
                self._reject_secret(item_path)
                continue
            copied[name] = self.copy(item, item_path)
        return copied

    def _reject_depth(self, path: Path) -> None:
        # The start of the path is enough to find it; all of it would fill the screen.
        self._reject(path[:3], f"is nested more than {MAX_DEPTH} levels deep.", "Flatten it.")

    def _reject_secret(self, path: Path) -> None:
        self.problems.append(
            Problem(
                path,
                "secret",
                "looks like a secret; secrets are never stored in a configuration.",
                "Remove it, and set it as an environment variable or in trainer/secrets.env "
                "of the home.",
                SECRET_REJECTED,
            )
        )

    _KINDS: tuple[tuple[Any, Callable[["_Copier", Any, Path], Any]], ...] = (
        (str, _copy_text),
        ((bool, type(None)), _copy_constant),
        (int, _copy_int),
        (float, _copy_float),
        ((list, tuple), _copy_list),
        (dict, _copy_object),
    )


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

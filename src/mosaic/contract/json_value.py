"""JSON values that are safe to keep: bounded in size and depth, finite, free of secrets."""

import math
from collections.abc import Callable
from typing import Any

import msgspec

from mosaic.contract.problems import MOST_PROBLEMS, Path, Problem
from mosaic.contract.secret_names import holds_a_secret, names_a_secret

MAX_DOCUMENT_BYTES = 1 << 20
MAX_DEPTH = 64
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
"""The whole numbers that SQLite can hold."""
SECRET_REFUSED = "C102"  # noqa: S105 - the code of the refusal, not a secret
"""A secret stood in a document that is stored."""

# Every value takes two bytes or more, with its comma: more of them cannot fit the limit.
_MAX_VALUES = MAX_DOCUMENT_BYTES // 2
TOO_LARGE = Problem(
    (),
    "document",
    f"is larger than {MAX_DOCUMENT_BYTES // 1024} KiB.",
    "Keep large data in a file of its own and name the file.",
)


def parse_json(data: bytes) -> tuple[Any, list[Problem]]:
    """The JSON text in `data`, and what is wrong with it as a text."""
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
    return None, [Problem((), "document", message, "Give one JSON object, encoded as UTF-8.")]


def copy_json(value: Any, *, refuse_secrets: bool = False) -> tuple[Any, list[Problem]]:
    """A copy of `value` made of plain JSON types, and what in it cannot be kept.

    Never fails, whatever `value` is: cycles end at the depth limit, shared parts at the size limit.
    """
    copier = _Copier(refuse_secrets)
    copied = copier.copy(value, ())
    return copied, copier.problems


class _Copier:
    def __init__(self, refuse_secrets: bool) -> None:
        self.problems: list[Problem] = []
        self._refuse_secrets = refuse_secrets
        self._values_left = _MAX_VALUES

    def copy(self, value: Any, path: Path) -> Any:
        self._values_left -= 1
        if self._values_left == -1:
            self.problems.append(TOO_LARGE)
        if self._values_left < 0 or len(self.problems) >= MOST_PROBLEMS:
            return None
        for kind, copy_kind in self._KINDS:
            if isinstance(value, kind):
                return copy_kind(self, value, path)
        self._refuse(
            path,
            f"is a Python {type(value).__name__}, which JSON cannot hold.",
            "Give text, a number, true, false, null, a list or an object.",
        )
        return None

    def _refuse(self, path: Path, message: str, remedy: str) -> None:
        self.problems.append(Problem(path, "value", message, remedy))

    def _keep(self, value: bool | None, _path: Path) -> bool | None:
        return value

    def _copy_int(self, value: int, path: Path) -> int | None:
        if INT64_MIN <= value <= INT64_MAX:
            return int(value)
        self._refuse(
            path, "is a number beyond 64 bits.", "Give a smaller number, or write it as text."
        )
        return None

    def _copy_float(self, value: float, path: Path) -> float | None:
        if math.isfinite(value):
            return float(value)
        self._refuse(path, "is not a finite number.", "Give a finite number or null.")
        return None

    def _copy_text(self, value: str, path: Path) -> str | None:
        if not _is_storable(value):
            self._refuse(
                path, "has a NUL or an unpaired surrogate in it.", "Remove that character."
            )
            return None
        if self._refuse_secrets and holds_a_secret(value):
            self._refuse_as_secret(path)
        return str.__str__(value)  # an enumeration's value, not its name

    def _copy_list(self, value: list[Any] | tuple[Any, ...], path: Path) -> list[Any] | None:
        if len(path) >= MAX_DEPTH:
            self._refuse_depth(path)
            return None
        return [self.copy(item, (*path, index)) for index, item in enumerate(value)]

    def _copy_object(self, value: dict[Any, Any], path: Path) -> dict[str, Any] | None:
        if len(path) >= MAX_DEPTH:
            self._refuse_depth(path)
            return None
        copied: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str) or not _is_storable(key):
                self._refuse(
                    path, "has a key that is not valid text.", "Use plain text for every key."
                )
                continue
            name = str.__str__(key)
            item_path = (*path, name)
            if self._refuse_secrets and (names_a_secret(name) or holds_a_secret(name)):
                self._refuse_as_secret(item_path)
                continue
            copied[name] = self.copy(item, item_path)
        return copied

    def _refuse_depth(self, path: Path) -> None:
        # The top of the path is enough to find it; the whole would fill the screen.
        self._refuse(path[:3], f"is nested more than {MAX_DEPTH} levels deep.", "Flatten it.")

    def _refuse_as_secret(self, path: Path) -> None:
        self.problems.append(
            Problem(
                path,
                "secret",
                "looks like a secret, and secrets are never stored in a configuration.",
                "Remove it here, and set it as an environment variable or in the file "
                "trainer/secrets.env of the home.",
                SECRET_REFUSED,
            )
        )

    _KINDS: tuple[tuple[Any, Callable[["_Copier", Any, Path], Any]], ...] = (
        (str, _copy_text),
        ((bool, type(None)), _keep),
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

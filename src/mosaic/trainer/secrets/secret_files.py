"""Files of `NAME=value` lines: users' `.env` files and our own `secrets.env`.

Used by `secrets.py` only.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError

_MAX_BYTES = 1 << 20
_MAX_LINES_NAMED = 10
_OTHERS_MASK = 0o077
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

Signature = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class FileContent:
    """The values of a file, and what is wrong with it."""

    values: Mapping[str, str] = field(default_factory=dict)
    problem: UserError | None = None


def signature(path: Path) -> Signature:
    """A value that changes whenever the file changes."""
    try:
        now = path.stat()
    except OSError:
        return None
    return (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def read_env_file(path: Path, *, private: bool) -> FileContent:
    """The values of a file, if it exists; a private one must be readable by its owner only."""
    try:
        return _values(path, _bindings(_read(path, private=private)))
    except UserError as problem:
        return FileContent(problem=problem)


def set_value(path: Path, name: str, value: str | None) -> None:
    """Set or remove one value of a private file; everything else stays unchanged."""
    if not _NAME.match(name):
        raise UserError(
            f"'{name}' is not a valid name of a secret.",
            remedy="Use letters, digits and '_', such as WANDB_API_KEY.",
            code="T342",
        )
    if value is not None and "\0" in value:
        raise UserError(
            f"The value of {name} contains a NUL character, which is not allowed.",
            remedy="Paste the value again.",
            code="T343",
        )
    text = _read(path, private=True)
    lines = [binding.original.string for binding in _bindings(text) if binding.key != name]
    if lines and not lines[-1].endswith("\n"):
        lines.append("\n")
    if value is not None:
        lines.append(f"{name}={_quote(value)}\n")
    if "".join(lines) != text:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, "".join(lines).encode())


def _read(path: Path, *, private: bool) -> str:
    try:
        with path.open("rb") as file:
            if private and os.fstat(file.fileno()).st_mode & _OTHERS_MASK:
                raise UserError(
                    f"{path} is not used, because other users of this machine can read it.",
                    remedy=f"Run `chmod 600 {path}`, and treat the keys in it as compromised.",
                    code="T341",
                )
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise _unusable(path, "it is larger than 1 MiB")
        return data.decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise _unusable(path, "it is not UTF-8 text") from None
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be read") from error


def _unusable(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path} is not used: {reason}.",
        remedy="Make it a readable text file of NAME=value lines, or remove it.",
        code="T344",
    )


def _values(path: Path, bindings: Sequence[Binding]) -> FileContent:
    values = {
        binding.key: binding.value
        for binding in bindings
        if binding.key and binding.value and "\0" not in binding.value
    }
    wrong = [str(binding.original.line) for binding in bindings if binding.error]
    if not wrong:
        return FileContent(values)
    problem = UserError(
        f"{path} has lines that cannot be parsed: {', '.join(wrong[:_MAX_LINES_NAMED])}.",
        remedy="Write each as NAME=value, the value in single quotes if it holds spaces.",
        code="T345",
    )
    return FileContent(values, problem)


def _bindings(text: str) -> list[Binding]:
    # Not dotenv's file reader: it logs, and the log's filter calls us to redact.
    return list(parse_stream(StringIO(text)))


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

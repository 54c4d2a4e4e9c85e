"""Requirements as normalized lines, from files or from a package's metadata.

Texts that install the same give the same lines, so that comments and blank lines never lead
to a new environment.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from mosaic.contract.errors import UserError
from mosaic.trainer.workers.interpreters import Interpreter

_COMMENT = re.compile(r"(^|\s+)#.*$")
_INCLUDE = re.compile(r"(?:-r|--requirement)(?:\s+|=)(?P<file>\S+)\Z")
_CONSTRAINT = re.compile(r"(?:-c|--constraint)(?:\s+|=)(?P<file>\S+)\Z")
_SDK = re.compile(r"mosaic[-_.]worker(?![\w.-])", re.IGNORECASE)
_MAX_DEPTH = 10


def lines_of_file(path: Path, depth: int = 0) -> tuple[str, ...]:
    """The requirements in the file and in those it includes. Raises `UserError`."""
    if depth > _MAX_DEPTH:
        raise _invalid(path, "it includes itself")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _invalid(path, reason or "it cannot be read") from error
    return tuple(_expand(normalize_lines(text), path.parent, depth))


def normalize_lines(text: str) -> list[str]:
    """Joined continuation lines, without comments and the SDK, which every run gets anyway."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    lines = (" ".join(_COMMENT.sub("", line).split()) for line in joined.splitlines())
    return [line for line in lines if line and not _SDK.match(line)]


def _expand(lines: Iterable[str], folder: Path, depth: int) -> Iterator[str]:
    for line in lines:
        include, constraint = _INCLUDE.match(line), _CONSTRAINT.match(line)
        if include and "://" not in line:
            yield from lines_of_file(folder / include["file"], depth + 1)
        elif constraint and "://" not in line:
            yield f"-c {(folder / constraint['file']).absolute()}"
        else:
            yield line


def hashed_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines to hash: a constraints file is replaced by its content."""
    for line in lines:
        constraint = _CONSTRAINT.match(line)
        if constraint and "://" not in line:
            yield from (f"-c {inner}" for inner in lines_of_file(Path(constraint["file"])))
        else:
            yield line


def names_package(line: str) -> bool:
    """Whether the line is a package and not an option."""
    return not line.startswith("-") or line.startswith(("-e ", "--editable"))


class DeclaredRequirements:
    """The dependencies in a package's `pyproject.toml` or installed metadata."""

    def __init__(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".toml":
                project = tomllib.loads(text).get("project", {})
                self._always = [str(requirement) for requirement in project.get("dependencies", [])]
                optional = project.get("optional-dependencies", {})
                self._optional = {
                    str(extra): [str(requirement) for requirement in lines]
                    for extra, lines in optional.items()
                }
            else:
                headers = HeaderParser().parsestr(text)
                self._always = [
                    str(requirement) for requirement in headers.get_all("Requires-Dist", [])
                ]
                extras = headers.get_all("Provides-Extra", [])
                self._optional = {str(extra): [] for extra in extras}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise _invalid(path, str(error)) from error
        self._path = path

    @property
    def extras(self) -> tuple[str, ...]:
        return tuple(sorted(self._optional))

    def lines(self, interpreter: Interpreter, extra: str = "") -> tuple[str, ...]:
        """The requirements without extras, or those that the extra adds, for that Python."""
        python = {
            "python_version": ".".join(map(str, interpreter.version[:2])),
            "python_full_version": interpreter.version_text,
            "implementation_name": interpreter.implementation,
        }
        plain = [line for line in self._always if self._applies(line, {**python, "extra": ""})]
        if not extra:
            return self._strip_markers(plain)
        offered = (*self._optional.get(extra, ()), *self._always)
        added = [line for line in offered if self._applies(line, {**python, "extra": extra})]
        return self._strip_markers(line for line in added if line not in plain)

    def _strip_markers(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Without environment markers, which were evaluated already."""
        requirements = [self._parse(line) for line in lines]
        for requirement in requirements:
            requirement.marker = None
        return tuple(normalize_lines("\n".join(map(str, requirements))))

    def _applies(self, line: str, environment: dict[str, str]) -> bool:
        marker = self._parse(line).marker
        return marker is None or marker.evaluate(environment)

    def _parse(self, line: str) -> Requirement:
        try:
            return Requirement(line)
        except InvalidRequirement as error:
            raise _invalid(self._path, f"'{line}' is not a requirement: {error}") from error


def _invalid(path: Path, reason: str) -> UserError:
    return UserError(
        f"The requirements in {path} cannot be used: {reason}.",
        remedy="Correct the file.",
        code="T322",
    )

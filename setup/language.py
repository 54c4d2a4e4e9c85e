"""Checks names and texts against the project's vocabulary: plain technical English.

    python setup/language.py              check the folders and pages listed as `checked`
    python setup/language.py PATH ...     check these, listed or not

Names are those that Python code defines: modules, functions, classes, arguments, variables and
attributes. Texts are docstrings, comments, strings of several words, and Markdown outside of code.
Other strings of tests are data and not checked. Generated files are skipped.
`language_allowed.toml` has the checked paths and the exceptions.
"""

import argparse
import ast
import fnmatch
import functools
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Path("setup/language_allowed.toml")

NAME_PATTERNS = {
    r"told|tells?|telling|sa(id|ys?)": "reported, logged, published or config",
    r"wish(es)?|wants?|deeds?|papers": "request, action or metadata",
    r"minds?": "bdi_state or beliefs",
    r"course|of_late": "tracker, progress or recent",
    r"wanted|asked": "requested",
    r"beats?": "tick",
    r"looks?(?!_(up|ahead))": "poll, refresh or inspect",
    r"patience": "timeout_s",
    r"whereabouts": "address",
    r"anew|whoever|nobody|somebody": "again, or the actual subject",
    r"conduct|desk|curtain|greying|dress|calm": "navigation, dock, start, style or idle",
    r"verdicts?|judged?": "status or evaluate",
    r"refusals?|blockages?": "rejected, error or fault",
    r"news": "update",
    r"words": "text",
    r"figures|facts": "metrics, stats or fields",
    r"stretch(es)?": "range",
    r"goes_on|go_on": "is_running or should_continue",
    r"^(most|longest|largest|least)(?=_)": "max or min",
    r"^note(?=_)": "record or mark",
    r"^take(?=_(?!over))": "handle, drain or apply",
}
"""Patterns of words in a name, with what to use instead; `^` is the start of the name."""

TEXT_PATTERNS = {
    r"(?<!there\s)(is|are|was|were)\s+no\s+(?!longer\b|more\s+than\b)[a-z]+": "is not a …",
    r"told|tells?|telling": "report, log or distinguish",
    r"wish(es)?|deeds?|papers": "request, action or metadata",
    r"tak(es?|ing)\s+in(?!\s+(a|the|each|order)\b)": "import, read or include",
    r"the\s+\w+\s+there\s+(are|is)(?=\s*([.,;:|]|$))": "the list itself, without `there are`",
    r"of\s+late": "recent",
    r"anew|whoever|nobody|somebody": "again, or the actual subject",
    r"go(es)?\s+on": "continue",
    r"all\s+the\s+same": "still",
    r"so\s+(many|long)": "this many, N, or a duration",
    r"stands?\s+still": "is paused",
    r"by\s+itself": "on its own, or a default",
    r"for\s+good|of\s+all\s+that": "permanently, or the actual thing",
    r"will\s+not\s+do": "must be …, got …",
}
"""Patterns in a text, with what to write instead."""

_NAME_RULES = [
    (re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])"), advice)
    for pattern, advice in NAME_PATTERNS.items()
]
_TEXT_RULES = [
    (re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE), advice)
    for pattern, advice in TEXT_PATTERNS.items()
]
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_AFTER_HASH = re.compile(r"#(.*)")
_INLINE_CODE = re.compile(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)")


class ConfigError(Exception):
    """The configuration file is invalid; the message says how."""


class Finding(NamedTuple):
    """A banned word or phrase in a name or a text."""

    path: str
    line: int
    phrase: str
    source: str
    advice: str

    def __str__(self) -> str:
        found = f"`{self.phrase}` in `{self.source[:90]}`"
        return f"{self.path}:{self.line}: {found}; use {self.advice}"


@dataclass(frozen=True)
class AllowedEntry:
    """An exception for findings by `path` (a glob), `match` (part of the name or text), or both."""

    path: str
    match: str
    reason: str

    def allows(self, finding: Finding) -> bool:
        if self.path and not fnmatch.fnmatch(finding.path, self.path):
            return False
        return not self.match or self.match in finding.source


@dataclass(frozen=True)
class Config:
    """The content of `language_allowed.toml`."""

    checked: tuple[str, ...]
    allowed: tuple[AllowedEntry, ...]


def read_config(root: Path) -> Config:
    """Raises `ConfigError` for a missing reason, an unknown key or a path that does not exist."""
    document = tomllib.loads((root / CONFIG).read_text(encoding="utf-8"))
    checked = tuple(document.get("checked", ()))
    for path in checked:
        if not (root / path).exists():
            raise ConfigError(f"{CONFIG}: `checked` lists {path}, which does not exist.")
    entries = document.get("allowed", [])
    return Config(checked, tuple(_read_entry(entry) for entry in entries))


def _read_entry(entry: dict[str, Any]) -> AllowedEntry:
    unknown = entry.keys() - {"path", "match", "reason"}
    if unknown:
        raise ConfigError(f"{CONFIG}: unknown key `{min(unknown)}` in {entry}.")
    if not entry.get("path") and not entry.get("match"):
        raise ConfigError(f"{CONFIG}: an entry needs `path` or `match`: {entry}.")
    if not str(entry.get("reason", "")).strip():
        raise ConfigError(f"{CONFIG}: an entry needs a `reason`: {entry}.")
    return AllowedEntry(entry.get("path", ""), entry.get("match", ""), entry["reason"])


@functools.cache
def check_name(name: str) -> tuple[str, str] | None:
    """Return the first banned word of a name and the advice."""
    snake = _WORD_START.sub("_", name).lower().strip("_")
    return _first_match(_NAME_RULES, snake)


def check_text(text: str) -> tuple[str, str] | None:
    """Return the first banned phrase of a text and the advice."""
    return _first_match(_TEXT_RULES, " ".join(text.split()))


def _first_match(rules: list[tuple[re.Pattern[str], str]], text: str) -> tuple[str, str] | None:
    matches = ((pattern.search(text), advice) for pattern, advice in rules)
    return next(((match[0], advice) for match, advice in matches if match), None)


def scan_file(path: Path, shown: str) -> Iterator[Finding]:
    """Yield the findings of a Python module or a Markdown page; `shown` is its displayed path."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(source)))
        names = [(1, path.stem), *_defined_names(nodes)]
        strings = _docstrings(nodes) if "tests" in Path(shown).parts else _strings(nodes)
        texts = [*strings, *_comments(source)]
    else:
        names, texts = [], list(_prose(source))
    for check, items in ((check_name, names), (check_text, texts)):
        for line, text in items:
            found = check(text)
            if found is not None:
                yield Finding(shown, line, found[0], " ".join(text.split()), found[1])


def _defined_names(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def _strings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield strings of several words; single words are keys and identifiers."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def _docstrings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            docstring = ast.get_docstring(node)
            if docstring is not None:
                yield node.body[0].lineno, docstring


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Tokenizing is slow, so it is done only if something after a `#` has a banned phrase."""
    if not any(check_text(match[1]) for match in _AFTER_HASH.finditer(source)):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def _prose(source: str) -> Iterator[tuple[int, str]]:
    is_code = False
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code:
            yield number, _INLINE_CODE.sub("…", line)


def list_files(root: Path, checked: Sequence[str]) -> list[Path]:
    """Return the modules and pages of the checked paths, without generated code."""
    files: set[Path] = set()
    for entry in checked:
        path = root / entry
        files.update([path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.md")])
    return [path for path in sorted(files) if not path.stem.endswith(("_pb2", "_pb2_grpc"))]


def scan(root: Path, config: Config, paths: Sequence[str] = ()) -> list[Finding]:
    """Return the findings in `paths`, or in all checked ones, that are not allowed."""
    return [
        finding
        for path in list_files(root, paths or config.checked)
        for finding in scan_file(path, path.relative_to(root).as_posix())
        if not any(entry.allows(finding) for entry in config.allowed)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check names and texts against the vocabulary.")
    parser.add_argument("paths", nargs="*", help="folders or files; default: the checked ones")
    arguments = parser.parse_args()
    try:
        findings = scan(ROOT, read_config(ROOT), arguments.paths)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    for finding in findings:
        print(finding)
    print(f"{len(findings)} found." if findings else "No banned words found.")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""`worker.toml`: how a worker is discovered, without importing its code."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import MAX_DOCUMENT_BYTES, TOO_LARGE, copy_json
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.problems import DocumentError, Problem, closest
from mosaic.contract.run_config import BundleConfig
from mosaic.contract.text_types import Identifier, ModuleName, Name
from mosaic.contract.validation import EXPECTED, build, read_document

WORKER_MANIFEST = "worker.toml"
INVALID_WORKER_MANIFEST = "C121"
"""A `worker.toml` is invalid."""

_CLAUSE = r"(>=|<=|>|<|==|!=)[ ]*[0-9]+(\.[0-9]+){0,2}"
PythonRange = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=rf"^{_CLAUSE}([ ]*,[ ]*{_CLAUSE})*$(?!\n)",
        extra={EXPECTED: 'a range of Python versions such as ">=3.8" or ">=3.10,<3.13"'},
    ),
]


class WorkerManifest(msgspec.Struct, kw_only=True, frozen=True):
    """What the daemon must know to start a worker."""

    id: Identifier
    label: Name
    module: Annotated[ModuleName, Meta(description="Started as `python -m MODULE`.")]
    bundle: Annotated[
        Identifier | None, Meta(description="Bundle it runs in; null: only Python.")
    ] = None
    script_bundle: Annotated[
        Identifier | None,
        Meta(description="Bundle of runs with a `script`; null: `bundle`."),
    ] = None
    python: PythonRange = ">=3.8"
    uses_client: Annotated[
        bool, Meta(description="Connects to the daemon: adds MOSAIC's packages to its path.")
    ] = False

    @property
    def bundles(self) -> tuple[str, ...]:
        """Every bundle that a run of the worker may need."""
        named = (self.bundle, self.script_bundle)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def bundle_for(self, requested: BundleConfig | None, script: str | None) -> str | None:
        """Return the bundle of a run with that `bundle` and `script`; None: only Python."""
        if requested is not None and requested.name is not None:
            return requested.name
        return (self.script_bundle if script is not None else None) or self.bundle

    def supports_python(self, version: tuple[int, int, int]) -> bool:
        """Return whether `python` includes this version, such as (3, 11, 7)."""
        return all(_satisfies(version, clause) for clause in self.python.split(","))


def read_worker_manifest(path: Path) -> WorkerManifest:
    """Read a `worker.toml`. Raises `DocumentError` with the path and the fields."""
    data = read_document(path, _invalid_manifest, MAX_DOCUMENT_BYTES)
    source = str(path)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _invalid_manifest([TOO_LARGE], source=source)
    try:
        parsed = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        problem = Problem((), "document", f"is not TOML: {reason}.", "Correct the file.")
        raise _invalid_manifest([problem], source=source) from None
    misspelt = [
        Problem((name,), "unknown", "is not a known field.", f"Did you mean `{suggestion}`?")
        for name in parsed
        if name not in _FIELDS
        and (suggestion := closest(name, sorted(_OPTIONAL_FIELDS - parsed.keys())))
    ]
    if misspelt:
        raise _invalid_manifest(misspelt, source=source)
    # Fields of later versions may have any type, including dates; only their names matter here.
    known = {name: value if name in _FIELDS else None for name, value in parsed.items()}
    document, problems = copy_json(known)
    if problems:
        raise _invalid_manifest(problems, source=source)
    return build(document, WorkerManifest, _invalid_manifest, source)


def _invalid_manifest(problems: Sequence[Problem], *, source: str = "") -> DocumentError:
    return DocumentError(
        problems, source=source, document="worker manifest", code=INVALID_WORKER_MANIFEST
    )


_FIELDS = frozenset(field.name for field in msgspec.structs.fields(WorkerManifest))
# A misspelt required field is reported as missing.
_OPTIONAL_FIELDS = frozenset(
    field.name for field in msgspec.structs.fields(WorkerManifest) if not field.required
)


def _satisfies(version: tuple[int, int, int], clause: str) -> bool:
    match = re.fullmatch(r"\s*([<>=!]+)\s*([0-9.]+)\s*", clause)
    if match is None:
        raise ValueError(f"not a version clause: {clause!r}")
    operator, bound_text = match.groups()
    bound = tuple(int(part) for part in bound_text.split("."))
    # "==3.11" matches every 3.11.x, and "<=3.11" includes them.
    return {
        ">=": version >= bound,
        "<": version < bound,
        "<=": version[: len(bound)] <= bound,
        ">": version[: len(bound)] > bound,
        "==": version[: len(bound)] == bound,
        "!=": version[: len(bound)] != bound,
    }[operator]


prebuild_decoders(WorkerManifest)

"""Reads the flags of a tyro script from the source code of its `Args` dataclass."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING, Any

from cleanrl_worker.upstream.flags import TYRO, ScriptFlag, ScriptFlags, make_parameter
from cleanrl_worker.upstream.literal_values import UNKNOWN, literal_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SCALAR_TYPES = {"int": "int", "float": "float", "bool": "bool", "str": "str"}
_LIST_TYPES = ("list", "List", "tuple", "Tuple", "Sequence")
_MAX_BASES = 20


def read_args_dataclass(tree: ast.Module, folders: Sequence[Path]) -> ScriptFlags | None:
    """Return the flags, or None if the script has no such class.

    Base classes are searched in the script, and in the modules below `folders` that it imports.
    """
    name = _parsed_class(tree) or "Args"
    located = _find_class(tree, name, folders)
    if located is None:
        return None
    fields: dict[str, ScriptFlag] = {}
    for definition in reversed(_with_bases(located, folders)):
        fields.update(_fields(definition))
    return ScriptFlags(TYRO, tuple(fields.values()), f"its class {name}")


def _parsed_class(tree: ast.Module) -> str:
    """Return the name of the class that is passed to `tyro.cli`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tyro.cli", "cli"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Name):
                return first.id
    return ""


_LocatedClass = tuple[ast.ClassDef, ast.Module]


def _find_class(tree: ast.Module, name: str, folders: Sequence[Path]) -> _LocatedClass | None:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node, tree
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    module = _parse_module(node.module or "", folders)
                    return _find_class(module, alias.name, folders) if module else None
    return None


def _parse_module(name: str, folders: Sequence[Path]) -> ast.Module | None:
    relative = name.replace(".", "/")
    for folder in folders:
        for path in (folder / f"{relative}.py", folder / relative / "__init__.py"):
            if path.is_file():
                return _parse_file(path)
    return None


@functools.cache
def _parse_file(path: Path) -> ast.Module | None:
    """Cached, because all learners share base classes."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None


def _with_bases(located: _LocatedClass, folders: Sequence[Path]) -> list[ast.ClassDef]:
    """Return the class and its base classes, the class first."""
    classes: list[ast.ClassDef] = []
    pending = [located]
    while pending and len(classes) < _MAX_BASES:
        definition, tree = pending.pop(0)
        classes.append(definition)
        for base in definition.bases:
            if isinstance(base, ast.Name):
                inherited = _find_class(tree, base.id, folders)
                if inherited is not None:
                    pending.append(inherited)
    return classes


def _fields(definition: ast.ClassDef) -> dict[str, ScriptFlag]:
    fields = {}
    for node, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        kind, choices, is_list = _type(node.annotation)
        name = node.target.id
        if kind == "ClassVar":
            continue
        parameter = make_parameter(name, kind, literal_value(node.value), choices, _doc(after))
        fields[name] = ScriptFlag(parameter, f"--{name.replace('_', '-')}", is_list=is_list)
    return fields


def _doc(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        value = node.value.value
        return value if isinstance(value, str) else ""
    return ""


def _type(node: ast.expr) -> tuple[str, tuple[Any, ...], bool]:
    """Return the parameter's type, its choices, and whether it takes several values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return "str", (), False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _type(node.right if _is_none(node.left) else node.left)
    if not isinstance(node, ast.Subscript):
        return _SCALAR_TYPES.get(_last_name(node), "str"), (), False
    outer, inner = _last_name(node.value), node.slice
    first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
    if outer == "Literal":
        choices = literal_value(inner)
        values = choices if isinstance(choices, tuple) else (choices,)
        return ("str", (), False) if UNKNOWN in values else ("choice", values, False)
    if outer in ("Optional", "Annotated", "Final"):
        return _type(first)
    if outer == "Union" and isinstance(inner, ast.Tuple):
        return _type(next((option for option in inner.elts if not _is_none(option)), first))
    if outer == "ClassVar":
        return "ClassVar", (), False
    return "str", (), outer in _LIST_TYPES


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

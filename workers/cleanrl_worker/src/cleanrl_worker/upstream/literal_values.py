"""Evaluates constant expressions in a script's source without running it."""

from __future__ import annotations

import ast
import operator
from typing import Any

UNKNOWN = object()
"""The value is only known when the script runs."""

_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_MAX_EXPONENT = 64
_FIELD_FUNCTIONS = ("field", "dataclasses.field")


def literal_value(node: ast.expr | None) -> Any:
    """Evaluate literals, arithmetic, `int(1e6)` and `field(...)`; UNKNOWN for anything else."""
    if node is None:
        return UNKNOWN
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    if isinstance(node, ast.BinOp):
        return _evaluate_operation(node)
    if isinstance(node, ast.Call):
        return _evaluate_call(node)
    return UNKNOWN


def _evaluate_operation(node: ast.BinOp) -> Any:
    left, right = literal_value(node.left), literal_value(node.right)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return UNKNOWN
    try:
        if isinstance(node.op, ast.Pow):
            return left**right if abs(right) <= _MAX_EXPONENT else UNKNOWN
        calculate = _OPERATORS.get(type(node.op))
        return UNKNOWN if calculate is None else calculate(left, right)
    except ArithmeticError:
        return UNKNOWN


def _evaluate_call(node: ast.Call) -> Any:
    name = ast.unparse(node.func)
    if name in ("int", "float") and len(node.args) == 1:
        inner = literal_value(node.args[0])
        is_number = isinstance(inner, (int, float))
        return {"int": int, "float": float}[name](inner) if is_number else UNKNOWN
    if name in _FIELD_FUNCTIONS:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        factory = keywords.get("default_factory")
        if isinstance(factory, ast.Lambda):
            return literal_value(factory.body)
        if isinstance(factory, ast.Name) and factory.id == "list":
            return []
        return literal_value(keywords.get("default"))
    return UNKNOWN

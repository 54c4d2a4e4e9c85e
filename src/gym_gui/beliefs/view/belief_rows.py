"""What an agent believes as rows: a belief that only has another value is one row, not two."""

from collections.abc import Iterable

from gym_gui.beliefs.model.beliefs_model import ShownMind
from gym_gui.beliefs.view.bdi_list import MindRow

_LONGEST_WAS = 20


def belief_rows(mind: ShownMind, *, with_gone: bool) -> list[MindRow]:
    """Those that are gone are left out when nobody wants to see them any more."""
    before = _values_before(mind)
    replaced = {old for old, _ in before.values()}
    rows = []
    for text in mind.beliefs:
        if text in before:
            rows.append(MindRow(text, "changed", was=before[text][1]))
        elif text not in mind.removed:
            rows.append(MindRow(text, "new" if text in mind.added else ""))
        elif with_gone and text not in replaced:
            rows.append(MindRow(text, "gone"))
    return rows


def _values_before(mind: ShownMind) -> dict[str, tuple[str, str]]:
    """Of each belief that took the place of one of the same name: that one, and its value."""
    removed, added = _only_ones(mind.removed), _only_ones(mind.added)
    return {
        added[name]: (old, old[len(name) + 1 : -1])
        for name, old in removed.items()
        if name in added and old.endswith(")") and len(old) - len(name) - 2 <= _LONGEST_WAS
    }


def _only_ones(beliefs: Iterable[str]) -> dict[str, str]:
    """By name, those that are the only ones of it."""
    named: dict[str, list[str]] = {}
    for text in beliefs:
        named.setdefault(text.partition("(")[0], []).append(text)
    return {name: texts[0] for name, texts in named.items() if len(texts) == 1}

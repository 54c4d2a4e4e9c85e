"""BdiCards: three cards with the beliefs, goals and intentions of an agent."""

from collections.abc import Iterable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gym_gui.beliefs.model.beliefs_model import DisplayedBdiState, Intention
from gym_gui.beliefs.view.bdi_list import BdiList, BdiRow
from gym_gui.runtime.models.theme_model import ThemeModel

_MAX_OLD_VALUE_CHARS = 20


def belief_rows(bdi_state: DisplayedBdiState, *, with_removed: bool) -> list[BdiRow]:
    """Return the rows of the beliefs; `with_removed` includes removed ones."""
    before = _old_values(bdi_state)
    replaced = {old for old, _ in before.values()}
    rows = []
    for text in bdi_state.beliefs:
        if text in before:
            rows.append(BdiRow(text, "changed", was=before[text][1]))
        elif text not in bdi_state.removed:
            rows.append(BdiRow(text, "new" if text in bdi_state.added else ""))
        elif with_removed and text not in replaced:
            rows.append(BdiRow(text, "gone"))
    return rows


def _old_values(bdi_state: DisplayedBdiState) -> dict[str, tuple[str, str]]:
    """Map each belief that replaced one of the same name to that one and its value."""
    removed, added = _unique_by_name(bdi_state.removed), _unique_by_name(bdi_state.added)
    return {
        added[name]: (old, old[len(name) + 1 : -1])
        for name, old in removed.items()
        if name in added and old.endswith(")") and len(old) - len(name) - 2 <= _MAX_OLD_VALUE_CHARS
    }


def _unique_by_name(beliefs: Iterable[str]) -> dict[str, str]:
    """Map each name with exactly one belief to that belief."""
    named: dict[str, list[str]] = {}
    for text in beliefs:
        named.setdefault(text.partition("(")[0], []).append(text)
    return {name: texts[0] for name, texts in named.items() if len(texts) == 1}


_MIN_THREE_COLUMNS_EM = 42
"""Minimum width in ems for three columns; below it there are two."""
_REMOVED_VISIBLE_MS = 4_000


class BdiCards(QWidget):
    """Shows removed beliefs struck out: for some seconds during a run, always in a replay."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bdi_state = DisplayedBdiState()
        self.beliefs = BdiList("Beliefs", theme)
        self.goals = BdiList("Goals", theme)
        self.intentions = BdiList("Intentions", theme, has_details=True)
        self._cards = (
            _Card("Beliefs", "No beliefs", self.beliefs),
            _Card("Goals", "No goals", self.goals),
            _Card("Intentions", "No active intention", self.intentions),
        )
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, 0)
        self._grid.setSpacing(line // 2)
        self._columns = 0
        self._hide_timer = QTimer(self)
        self._hide_timer.setSingleShot(True)
        self._hide_timer.setInterval(_REMOVED_VISIBLE_MS)
        self._hide_timer.timeout.connect(self._hide_removed)
        self._arrange(3)

    def show_state(self, bdi_state: DisplayedBdiState) -> None:
        if bdi_state == self._bdi_state:
            return
        self._bdi_state = bdi_state
        self._show()
        if bdi_state.removed and bdi_state.position is None:
            self._hide_timer.start()
        else:
            self._hide_timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        has_three = event.size().width() >= self.fontMetrics().height() * _MIN_THREE_COLUMNS_EM
        self._arrange(3 if has_three else 2)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        beliefs, goals, intentions = self._cards
        for card in self._cards:
            self._grid.removeWidget(card)
        is_wide = columns == len(self._cards)
        if is_wide:
            for column, card in enumerate(self._cards):
                self._grid.addWidget(card, 0, column)
        else:
            self._grid.addWidget(beliefs, 0, 0, 2, 1)
            self._grid.addWidget(goals, 0, 1)
            self._grid.addWidget(intentions, 1, 1)
        for column, share in enumerate((5, 4, 5) if is_wide else (5, 5, 0)):
            self._grid.setColumnStretch(column, share)
        self._grid.setRowStretch(0, 1)
        self._grid.setRowStretch(1, 0 if is_wide else 1)

    def _hide_removed(self) -> None:
        self._show(with_removed=False)

    def _show(self, *, with_removed: bool = True) -> None:
        bdi_state = self._bdi_state
        beliefs = belief_rows(bdi_state, with_removed=with_removed)
        for card in self._cards:
            card.show_known(bdi_state.is_known)
        held = len(bdi_state.beliefs) - len(bdi_state.removed)
        self._cards[0].show_rows(beliefs, held)
        self._cards[1].show_rows([BdiRow(goal) for goal in bdi_state.goals], len(bdi_state.goals))
        rows = [
            BdiRow(intention.goal, detail=_intention_text(intention))
            for intention in bdi_state.intentions
        ]
        self._cards[2].show_rows(rows, len(rows))


class _Card(QFrame):
    def __init__(self, title: str, placeholder: str, content: BdiList) -> None:
        super().__init__()
        self._placeholder = placeholder
        self.setProperty("role", "card")
        self._content = content
        line = self.fontMetrics().height()
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        header = QHBoxLayout()
        header.setContentsMargins(line // 3, 0, line // 3, 0)
        header.addWidget(heading, 1)
        header.addWidget(self._count)
        column = QVBoxLayout(self)
        column.setContentsMargins(line // 4, line // 3, line // 4, line // 3)
        column.setSpacing(line // 4)
        column.addLayout(header)
        column.addWidget(content, 1)

    def show_known(self, is_known: bool) -> None:
        """Set the placeholder: no rows, or not read."""
        self._content.set_placeholder(self._placeholder if is_known else "Not read")

    def show_rows(self, rows: list[BdiRow], count: int) -> None:
        self._content.show_rows(rows)
        text = f"{count:,}" if count else ""
        if self._count.text() != text:
            self._count.setText(text)


def _intention_text(intention: Intention) -> str:
    parts = [f"plan {intention.plan}"] if intention.plan else []
    if intention.depth is not None:
        below = max(0, intention.depth - 1)
        subgoals = f"{below} subgoal{'' if below == 1 else 's'} deep"
        parts.append(subgoals if below else "top-level goal")
    return " · ".join(parts)

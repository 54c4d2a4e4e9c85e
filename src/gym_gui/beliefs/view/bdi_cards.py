"""BdiCards: three cards, for what an agent believes, what it wants and what it is at."""

from collections.abc import Iterable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gym_gui.beliefs.model.beliefs_model import Intention, ShownMind
from gym_gui.beliefs.view.bdi_list import MindList, MindRow
from gym_gui.runtime.models.theme_model import ThemeModel

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


_THREE_FROM = 42
"""Ems of width, from which the cards stand side by side; otherwise two below each other."""
_GONE_FOR_MS = 4_000


class BdiCards(QWidget):
    """What went is struck for a moment while a run goes on, and for good at a replayed step."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mind = ShownMind()
        self.beliefs = MindList("Beliefs", theme)
        self.goals = MindList("Goals", theme)
        self.intentions = MindList("Intentions", theme, has_details=True)
        self._cards = (
            _Card("Beliefs", "Believes nothing", self.beliefs),
            _Card("Goals", "Wants nothing now", self.goals),
            _Card("Intentions", "Is at nothing now", self.intentions),
        )
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, 0)
        self._grid.setSpacing(line // 2)
        self._columns = 0
        self._forget = QTimer(self)
        self._forget.setSingleShot(True)
        self._forget.setInterval(_GONE_FOR_MS)
        self._forget.timeout.connect(self._strike_no_more)
        self._arrange(3)

    def show_mind(self, mind: ShownMind) -> None:
        if mind == self._mind:
            return
        self._mind = mind
        self._show()
        if mind.removed and mind.place is None:
            self._forget.start()
        else:
            self._forget.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = event.size().width() >= self.fontMetrics().height() * _THREE_FROM
        self._arrange(3 if is_wide else 2)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        beliefs, goals, intentions = self._cards
        for card in self._cards:
            self._grid.removeWidget(card)
        has_room = columns == len(self._cards)
        if has_room:
            for at, card in enumerate(self._cards):
                self._grid.addWidget(card, 0, at)
        else:
            self._grid.addWidget(beliefs, 0, 0, 2, 1)
            self._grid.addWidget(goals, 0, 1)
            self._grid.addWidget(intentions, 1, 1)
        for column, share in enumerate((5, 4, 5) if has_room else (5, 5, 0)):
            self._grid.setColumnStretch(column, share)
        self._grid.setRowStretch(0, 1)
        self._grid.setRowStretch(1, 0 if has_room else 1)

    def _strike_no_more(self) -> None:
        self._show(with_gone=False)

    def _show(self, *, with_gone: bool = True) -> None:
        mind = self._mind
        beliefs = belief_rows(mind, with_gone=with_gone)
        for card in self._cards:
            card.show_known(mind.is_known)
        held = len(mind.beliefs) - len(mind.removed)
        self._cards[0].show_rows(beliefs, held)
        self._cards[1].show_rows([MindRow(goal) for goal in mind.goals], len(mind.goals))
        rows = [MindRow(each.goal, detail=_at_words(each)) for each in mind.intentions]
        self._cards[2].show_rows(rows, len(rows))


class _Card(QFrame):
    def __init__(self, title: str, nothing: str, content: MindList) -> None:
        super().__init__()
        self._nothing = nothing
        self.setProperty("role", "card")
        self._content = content
        line = self.fontMetrics().height()
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        head = QHBoxLayout()
        head.setContentsMargins(line // 3, 0, line // 3, 0)
        head.addWidget(heading, 1)
        head.addWidget(self._count)
        column = QVBoxLayout(self)
        column.setContentsMargins(line // 4, line // 3, line // 4, line // 3)
        column.setSpacing(line // 4)
        column.addLayout(head)
        column.addWidget(content, 1)

    def show_known(self, is_known: bool) -> None:
        """Whether no rows mean that there are none."""
        self._content.say_nothing(self._nothing if is_known else "Not read")

    def show_rows(self, rows: list[MindRow], count: int) -> None:
        self._content.show_rows(rows)
        text = f"{count:,}" if count else ""
        if self._count.text() != text:
            self._count.setText(text)


def _at_words(intention: Intention) -> str:
    parts = [f"plan {intention.plan}"] if intention.plan else []
    if intention.depth is not None:
        below = max(0, intention.depth - 1)
        subgoals = f"{below} subgoal{'' if below == 1 else 's'} deep"
        parts.append(subgoals if below else "at the goal itself")
    return " · ".join(parts)

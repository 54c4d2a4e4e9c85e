"""RunMenu: what can be done with the chosen runs, as a menu and as keys. Used by `RunsView`."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gym_gui.models.run_actions import RunActions
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.elements.icons import IconName, keep_icon
from mosaic.contract.runs import RunRecord

Test = Callable[[RunRecord], bool]


@dataclass(frozen=True, slots=True)
class RunDeeds:
    """What the view does itself, because it needs a selection, an editor or a question."""

    watch: Callable[[], None]
    replay: Callable[[], None]
    rename: Callable[[], None]
    edit_tags: Callable[[], None]
    delete: Callable[[], None]
    export: Callable[[], None]
    copy_ids: Callable[[], None]


class RunMenu(QMenu):
    """`runs` gives what is chosen. An action is greyed where it fits none of them."""

    def __init__(
        self,
        owner: QWidget,
        actions: RunActions,
        runs: Callable[[], list[RunRecord]],
        deeds: RunDeeds,
        theme: ThemeModel,
    ) -> None:
        super().__init__(owner)
        self._owner = owner
        self._theme = theme
        self._runs = runs
        self._tests: list[tuple[QAction, Test, bool]] = []
        always: Test = lambda _: True  # noqa: E731 - a word for it reads better below

        def ids(test: Test) -> list[str]:
            return [run.run_id for run in runs() if test(run)]

        def for_all(do: Callable[[list[str]], None], test: Test) -> Callable[[], None]:
            return lambda: do(ids(test))

        self._add("live", "Watch live", "Return", deeds.watch, actions.can_watch, is_single=True)
        self._add("replay", "Replay", "R", deeds.replay, actions.can_replay, is_single=True)
        self.addSeparator()
        pause, resume = actions.can_pause, actions.can_resume
        self._add("pause", "Pause", "P", for_all(actions.pause, pause), pause)
        self._add("play", "Resume", "Shift+P", for_all(actions.resume, resume), resume)
        self._add("stop", "Stop", "S", for_all(actions.stop, actions.can_stop), actions.can_stop)
        self.addSeparator()
        self._add("command", "Rename", "F2", deeds.rename, always, is_single=True)
        self._add("star", "Tags…", "T", deeds.edit_tags, always, is_single=True)
        self._add("export", "Export", "E", deeds.export, always, is_single=True)
        self._add(
            "folder",
            "Open folder",
            "O",
            lambda: actions.open_folder(ids(always)[0]),
            always,
            is_single=True,
        )
        self._add("copy", "Copy id", "Ctrl+C", deeds.copy_ids, always)
        self.addSeparator()
        kept: Test = lambda run: not run.archived and run.state.is_final  # noqa: E731 - as above
        put_away: Test = lambda run: run.archived  # noqa: E731 - as above
        self._add("download", "Archive", "A", for_all(actions.archive, kept), kept)
        self._add(
            "undo",
            "Bring back",
            "Shift+A",
            lambda: actions.archive(ids(put_away), archived=False),
            put_away,
        )
        self._add("trash", "Delete…", "Del", deeds.delete, actions.can_delete)
        self.aboutToShow.connect(self._update)
        self.aboutToHide.connect(self._enable_all)

    def _add(
        self,
        icon: IconName,
        text: str,
        shortcut: str,
        run: Callable[[], object],
        test: Test,
        *,
        is_single: bool = False,
    ) -> None:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(shortcut))
        action.setShortcutVisibleInContextMenu(True)
        keep_icon(action, icon, self._theme, "muted")

        def carry_out() -> None:
            chosen = self._runs()
            if any(map(test, chosen)) and (len(chosen) == 1 or not is_single):
                run()

        action.triggered.connect(carry_out)
        self.addAction(action)
        self._tests.append((action, test, is_single))

    def _update(self) -> None:
        chosen = self._runs()
        for action, test, is_single in self._tests:
            action.setEnabled(any(map(test, chosen)) and (len(chosen) == 1 or not is_single))

    def _enable_all(self) -> None:
        """Keys work whenever they fit, which is looked at when they are pressed."""
        for action, _, _ in self._tests:
            action.setEnabled(True)

"""ReplaySteps: the recorded steps around a playhead, read when somebody looks at them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.tasks import Tasks
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord

_PAGE = 100
_MOST_PAGES = 60

ReadSteps = Callable[[int, int], list[StepRecord]]


class ReplaySteps(QObject):
    """Of one episode. Pages that were not looked at for longest go first."""

    arrived = Signal()
    """There are steps that were asked for."""

    def __init__(
        self, read: ReadSteps, tasks: Tasks, notices: Notices, parent: QObject | None = None
    ) -> None:
        """`read(first, count)` waits for the daemon."""
        super().__init__(parent)
        self._read = read
        self._tasks = tasks
        self._notices = notices
        self._pages: OrderedDict[int, dict[int, StepRecord]] = OrderedDict()
        self._whole: set[int] = set()
        """Pages of which there is nothing more to read."""
        self._is_asking = False

    def get(self, step: int) -> StepRecord | None:
        """The step if it is here; otherwise it is asked for, and `arrived` says when to look."""
        number = step // _PAGE
        page = self._pages.get(number)
        if page is not None:
            self._pages.move_to_end(number)
        found = page.get(step) if page is not None else None
        if found is None and number not in self._whole and not self._is_asking:
            # One at a time: while somebody scrubs, only where they are when it is answered counts.
            self._is_asking = True
            self._tasks.run(
                self,
                lambda: self._read(number * _PAGE, _PAGE),
                lambda steps: self._take(number, steps),
                self._fail,
            )
        return found

    def put(self, steps: Iterable[StepRecord]) -> None:
        """What was read anyway."""
        for step in steps:
            self._pages.setdefault(step.step // _PAGE, {})[step.step] = step
        while len(self._pages) > _MOST_PAGES:
            self._whole.discard(self._pages.popitem(last=False)[0])

    def _take(self, page: int, steps: list[StepRecord]) -> None:
        self._is_asking = False
        self._pages.setdefault(page, {})
        self._whole.add(page)
        self.put(steps)
        self.arrived.emit()

    def _fail(self, error: UserError) -> None:
        self._is_asking = False
        self._notices.fail(error)

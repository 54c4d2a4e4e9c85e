"""Further tabs, opened by their kind: which there are, what they are called, how they are made.

A worker's descriptor names kinds in `tabs`; `runtime.models.run_tabs` decides which of them a run
opens. Nothing here knows a worker, and a kind that is not in the table is ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import FurtherPage, FurtherTab

if TYPE_CHECKING:
    from gym_gui.app.analysis_models import AnalysisModels
    from gym_gui.app.wiring import AppContext
    from gym_gui.beliefs.view.beliefs_page import BeliefsPage


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    why_not: str
    """Of a run that has none, as a whole sentence."""
    modules: tuple[str, ...]
    """What making it imports, of `gym_gui`."""
    make: "Callable[[AppContext, AnalysisModels], QWidget]"


def further_pages(bench: "AppContext", models: "AnalysisModels") -> dict[FurtherTab, FurtherPage]:
    """One of each kind, built when it is first looked at."""
    return {
        name: FurtherPage(
            kind.title,
            LazyPage(partial(kind.make, bench, models), bench.tasks, kind.modules),
            kind.why_not,
        )
        for name, kind in _KINDS.items()
    }


def _make_beliefs_page(bench: "AppContext", models: "AnalysisModels") -> "BeliefsPage":
    from gym_gui.beliefs.view.beliefs_page import BeliefsPage  # noqa: PLC0415 - when shown

    page = BeliefsPage(models.beliefs, bench.theme)
    page.step_requested.connect(bench.conduct.replay_step)
    return page


_KINDS: dict[FurtherTab, _Kind] = {
    "beliefs": _Kind(
        "Beliefs",
        "The worker of the selected run does not tell what its agent has in mind.",
        ("beliefs.model.beliefs_model", "beliefs.view.beliefs_page"),
        _make_beliefs_page,
    ),
}

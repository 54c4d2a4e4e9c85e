"""PlayArea: the three views of the session, each a page for a tab of the centre."""

from PySide6.QtCore import QObject

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.frame_page import FramePage
from gym_gui.play.view.grid_page import GridPage
from gym_gui.play.view.play_surface import PlaySurface
from gym_gui.play.view.raw_page import RawPage
from gym_gui.runtime.models.theme_model import ThemeModel


class PlayArea(QObject):
    """Not a widget: the window puts the pages where it wants them."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid = GridPage(model, theme)
        self.frame = FramePage(model, theme)
        self.raw = RawPage(model, theme)
        self.grid_page = PlaySurface(model, self.grid, "grid", "Grid view", theme)
        self.frame_page = PlaySurface(model, self.frame, "frame", "Frame view", theme)
        self.raw_page = PlaySurface(model, self.raw, "raw", "Raw view", theme)

    @property
    def pages(self) -> tuple[PlaySurface, ...]:
        return (self.grid_page, self.frame_page, self.raw_page)

    @property
    def shown_page(self) -> PlaySurface | None:
        """The one in front; None while the centre shows something else."""
        return next((page for page in self.pages if page.isVisible()), None)

"""One kind of artifact: a few files at first, all of them when asked, and what to do with each."""

from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.run_page.model.run_artifacts import ArtifactRow
from gym_gui.run_page.view.artifact_row import ArtifactRowView
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.manifest import ArtifactFile


def _plays(view: ArtifactRowView) -> list[QToolButton]:
    return [each for each in view.findChildren(QToolButton) if each.toolTip().startswith("Play")]


def test_files_are_shown_and_opened(qtbot: QtBot, theme: ThemeModel) -> None:
    """Five at first; a file that is opened is named by its path."""
    files = tuple(
        ArtifactFile(path=f"videos/{number}.mp4", size_bytes=10, t=1.0) for number in range(8)
    )
    row = ArtifactRow("videos", "Videos", "8 videos", 80, 1.0, "", "videos", files=files)
    view = ArtifactRowView(row, theme, 2.0)
    qtbot.addWidget(view)
    assert len(_plays(view)) == 5
    more = next(each for each in view.findChildren(QPushButton) if each.text() == "3 more")
    more.click()
    assert len(_plays(view)) == 8
    with qtbot.waitSignal(view.file_wanted) as asked:
        _plays(view)[-1].click()
    assert asked.args == ["videos", "videos/7.mp4"]

"""One kind of artifact: five files at first, all files on request, an action for each."""

from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.run_page.model.run_artifacts import ArtifactRow
from gym_gui.run_page.view.artifacts_tab import ArtifactRowView
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.manifest import ArtifactFile


def _play_buttons(view: ArtifactRowView) -> list[QToolButton]:
    return [button for button in view.findChildren(QToolButton) if button.toolTip()[:4] == "Play"]


def test_files_are_listed_and_opened(qtbot: QtBot, theme: ThemeModel) -> None:
    """Five files at first; an opened file is named by its path."""
    files = tuple(
        ArtifactFile(path=f"videos/{number}.mp4", size_bytes=10, t=1.0) for number in range(8)
    )
    row = ArtifactRow("videos", "Videos", "8 videos", 80, 1.0, "", "videos", files=files)
    view = ArtifactRowView(row, theme, 2.0)
    qtbot.addWidget(view)
    assert len(_play_buttons(view)) == 5
    more = next(button for button in view.findChildren(QPushButton) if button.text() == "3 more")
    more.click()
    assert len(_play_buttons(view)) == 8
    with qtbot.waitSignal(view.file_requested) as requested:
        _play_buttons(view)[-1].click()
    assert requested.args == ["videos", "videos/7.mp4"]

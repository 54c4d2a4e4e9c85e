"""ParameterForm: editors, values, problems and search."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QToolButton,
)
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.forms.number_box import NumberBox
from gym_gui.widgets.forms.parameter_form import ParameterForm
from gym_gui.widgets.forms.parameter_row import label_from_name
from mosaic.contract.parameters import Parameter, check_values
from mosaic.contract.problems import Problem
from mosaic.envs.catalog import environment

_PARAMETERS = (
    Parameter(name="learning_rate", type="float", default=2.5e-4, min=0.0, max=1.0, group="Learn"),
    Parameter(name="seed_of_all", type="int", default=None, max=2**62, group="Learn"),
    Parameter(name="is_slippery", type="bool", default=True, group="World"),
    Parameter(name="level", type="choice", default=None, choices=("easy", 2), group="World"),
    Parameter(name="anneal", type="bool", default=None),
    Parameter(name="note", type="str", default=""),
    Parameter(name="desc", type="str", default=None, help="A map."),
)


def _form(qtbot: QtBot, theme: ThemeModel, **values: object) -> ParameterForm:
    form = ParameterForm(theme)
    qtbot.addWidget(form)
    form.show_parameters(_PARAMETERS, values, long_texts=("desc",))
    form.finish()
    form.show()
    return form


def test_values_are_what_differs_from_the_defaults(qtbot: QtBot, theme: ThemeModel) -> None:
    """Values are returned unchanged, and defaults are omitted."""
    assert _form(qtbot, theme).values() == {}
    values = {
        "learning_rate": 1 / 3,
        "seed_of_all": 2**60,
        "is_slippery": False,
        "level": 2,
        "anneal": False,
        "note": "x",
        "desc": "SF\nFG",
    }
    assert _form(qtbot, theme, **values).values() == values


def test_fields_are_edited_and_reset(qtbot: QtBot, theme: ThemeModel) -> None:
    """Each editor emits `changed`, and each changed field has a reset button."""
    form = _form(qtbot, theme)
    changes: list[dict[str, object]] = []
    form.changed.connect(lambda: changes.append(form.values()))
    number = form.row("seed_of_all").findChildren(NumberBox)[0]
    number.setFocus()
    QTest.keyClicks(number, "12")
    QTest.keyClick(number, Qt.Key.Key_Up)
    assert changes[-1] == {"seed_of_all": 13}
    form.row("is_slippery").findChildren(QCheckBox)[0].click()
    combo = form.row("level").findChildren(QComboBox)[0]
    QTest.keyClick(combo, Qt.Key.Key_Down)
    page = form.row("desc").findChildren(QPlainTextEdit)[0]
    QTest.keyClicks(page, "SG")
    assert changes[-1] == {"seed_of_all": 13, "is_slippery": False, "level": "easy", "desc": "SG"}
    for name in ("seed_of_all", "is_slippery", "level", "desc"):
        reset = form.row(name).findChildren(QToolButton)[0]
        assert reset.isVisible()
        reset.click()
        assert not reset.isVisible()
    assert changes[-1] == {}


def test_text_that_is_not_a_number_is_a_problem_of_its_field(
    qtbot: QtBot, theme: ThemeModel
) -> None:
    """The text is returned as the value, and the problem is shown below the field."""
    form = _form(qtbot, theme)
    number = form.row("learning_rate").findChildren(NumberBox)[0]
    number.selectAll()
    QTest.keyClicks(number, "lots")
    assert form.values() == {"learning_rate": "lots"}
    problems = tuple(check_values(form.values(), _PARAMETERS, ()))
    form.show_problems((*problems, Problem(("elsewhere",), "value", "is odd.", "Change it.")))
    texts = [label.text() for label in form.findChildren(QLabel) if label.isVisible()]
    assert any(text.startswith("Learning rate") and "number" in text for text in texts)
    assert "`elsewhere` is odd. Change it." in texts
    form.show_problems(())
    assert "`elsewhere` is odd. Change it." not in [
        label.text() for label in form.findChildren(QLabel) if label.isVisible()
    ]


def test_many_parameters_can_be_searched(qtbot: QtBot, theme: ThemeModel) -> None:
    """Rows and groups without a match are hidden."""
    many = [
        Parameter(name=f"weight_{i}", type="int", default=i, group="Even" if i % 2 == 0 else "Odd")
        for i in range(20)
    ]
    form = ParameterForm(theme)
    qtbot.addWidget(form)
    form.show_parameters(many, {})
    form.show()
    search = next(
        line for line in form.findChildren(QLineEdit) if line.accessibleName() == "Search settings"
    )
    assert search.isVisible()
    QTest.keyClicks(search, "odd 1")
    visible = {item.name for item in many if form.row(item.name).isVisible()}
    assert visible == {"weight_1", "weight_11", "weight_13", "weight_15", "weight_17", "weight_19"}


def test_tab_visits_the_fields_in_order(qtbot: QtBot, theme: ThemeModel) -> None:
    """Also after showing other parameters."""
    form = _form(qtbot, theme)
    form.show_parameters(_PARAMETERS[:3], {})
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    names = []
    widget = form.nextInFocusChain()
    while widget is not None and widget is not form:
        name = widget.accessibleName()
        if isinstance(widget, NumberBox | QCheckBox) and name:
            names.append(name)
        widget = widget.nextInFocusChain()
    assert names == ["Learning rate", "Seed of all", "Slippery"]


def test_a_parameter_has_the_label_of_its_worker(qtbot: QtBot, theme: ThemeModel) -> None:
    """The search uses the label, too."""
    form = ParameterForm(theme)
    qtbot.addWidget(form)
    form.show_parameters([Parameter(name="asl", type="str", default="", label="Plan file")], {})
    assert form.row("asl").title == "Plan file"
    assert form.row("asl").matches(["plan"])


def test_label_from_name() -> None:
    """Names of parameters become readable labels."""
    assert label_from_name("is_slippery") == "Slippery"
    assert label_from_name("obs_type") == "Observation type"
    assert label_from_name("is") == "Is"


def test_parameters_without_effect_are_hidden(qtbot: QtBot, theme: ThemeModel) -> None:
    """Fields of a random map are visible, and part of the values, only with a random map."""
    lake = environment("FrozenLake-v1")
    form = ParameterForm(theme)
    qtbot.addWidget(form)
    form.show_parameters(lake.fields, {}, shown_when=lake.shown_when)
    form.finish()
    assert form.row("map_size").isHidden()
    assert form.row("desc").isHidden()
    form.show_parameters(lake.fields, {"map_name": "random", "map_size": 5})
    assert not form.row("map_size").isHidden()
    assert form.row("desc").isHidden()
    names = form.row("map_name").findChild(QComboBox)
    assert names is not None
    with qtbot.waitSignal(form.changed):
        names.setCurrentIndex(names.findText("4x4"))
        names.activated.emit(names.currentIndex())
    assert form.row("map_size").isHidden()
    assert form.values() == {}

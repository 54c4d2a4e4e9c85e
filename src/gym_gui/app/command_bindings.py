"""What each command of the table does, and when it cannot be used."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QDockWidget

from gym_gui.app.commands import Binding
from gym_gui.app.screens import CENTRE_TITLES, CentreTab, FurtherTab
from gym_gui.runtime.models.theme_model import ThemeChoice
from mosaic import __version__

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext


def bindings(bench: "AppContext") -> dict[str, Binding]:
    """For every command of the table; `Commands` misses none of them."""
    return {
        **_of_session(bench),
        **_of_modes(bench),
        **_of_runs(bench),
        **_of_views(bench),
        **_of_panels(bench),
        **_of_themes(bench),
        **_of_tools(bench),
        **_of_help(bench),
    }


def _of_session(bench: "AppContext") -> dict[str, Binding]:
    play, panel = bench.models.play, bench.models.session_panel

    def not_playing() -> str:
        return "" if play.is_playing else "Nothing is played now."

    def no_agent() -> str:
        return not_playing() or ("" if play.has_agent else "Only you act here: choose Hybrid.")

    return {
        "session.play": Binding(panel.play),
        "session.stop": Binding(panel.stop, lambda: "" if play.is_on else "Nothing is played now."),
        "session.pause": Binding(play.pause_or_resume, not_playing),
        "session.step": Binding(play.single_step, not_playing),
        "session.reset": Binding(play.start_new_episode, not_playing),
        "session.again": Binding(play.play_again, not_playing),
        "session.takeover": Binding(play.take_over_or_release, no_agent),
        "session.environment": Binding(lambda: _choose_environment(bench)),
        "session.dice": Binding(panel.choice.randomize_seed),
        "session.quit": Binding(lambda: _close(bench)),
    }


def _close(bench: "AppContext") -> None:
    bench.window.close()


def _choose_environment(bench: "AppContext") -> None:
    bench.window.session_dock.show()
    bench.session_panel.open_environment_picker()


def _of_modes(bench: "AppContext") -> dict[str, Binding]:
    panel = bench.models.session_panel

    def mode(name: str) -> Binding:
        return Binding(lambda: panel.set_mode(name), is_checked=lambda: panel.mode == name)

    return {f"session.{name}": mode(name) for name in ("human", "hybrid", "agent")}


def _of_runs(bench: "AppContext") -> dict[str, Binding]:
    def chosen() -> str:
        runs = bench.runs_view.selected_runs()
        return runs[0].run_id if runs else ""

    def none_chosen() -> str:
        return "" if chosen() else "No run is selected."

    def cannot_stop() -> str:
        run = bench.models.runs.by_id(chosen())
        if run is None:
            return "No run is selected."
        return "" if bench.models.run_actions.can_stop(run) else "The run is over."

    def chosen_ids() -> list[str]:
        return [run.run_id for run in bench.runs_view.selected_runs()]

    return {
        "run.train": Binding(lambda: bench.training_conduct.train()),  # noqa: PLW0108 - made later
        "run.open": Binding(lambda: bench.analysis.show_overview(chosen()), none_chosen),
        "run.compare": Binding(lambda: bench.analysis.compare(chosen_ids()), none_chosen),
        "run.tensorboard": Binding(
            lambda: bench.analysis.open_tensorboard(chosen_ids()), none_chosen
        ),
        "run.duplicate": Binding(lambda: bench.training_conduct.duplicate(chosen()), none_chosen),
        "run.watch": Binding(lambda: bench.conduct.watch(chosen()), none_chosen),
        "run.replay": Binding(lambda: bench.conduct.replay(chosen()), none_chosen),
        "run.stop": Binding(lambda: bench.models.run_actions.stop([chosen()]), cannot_stop),
        "run.demo": Binding(
            lambda: bench.conduct.demo.start(),  # noqa: PLW0108 - it comes after the commands
            lambda: _no_daemon(bench),
        ),
    }


def _of_views(bench: "AppContext") -> dict[str, Binding]:
    centre = bench.window.centre

    def view(name: CentreTab, why_not: Callable[[], str]) -> Binding:
        return Binding(
            lambda: centre.show_tab(name),
            why_not,
            lambda: centre.shows_tabs and centre.current == name,
        )

    def of_some_runs(name: FurtherTab) -> Binding:
        return view(name, lambda: bench.analysis.why_no_further(name))

    return {
        **{f"view.{name}": view(name, partial(centre.tab_reason, name)) for name in CENTRE_TITLES},
        **{f"view.{name}": of_some_runs(name) for name in bench.analysis.further_pages},
    }


def _of_panels(bench: "AppContext") -> dict[str, Binding]:
    window = bench.window

    def panel(dock: QDockWidget) -> Binding:
        return Binding(lambda: window.toggle(dock), is_checked=lambda: not dock.isHidden())

    return {
        "view.session_panel": panel(window.session_dock),
        "view.telemetry_panel": panel(window.telemetry_dock),
        "view.runs_panel": panel(window.runs_dock),
        "view.reset_layout": Binding(window.reset_layout),
        "view.full_screen": Binding(window.toggle_full_screen, is_checked=window.isFullScreen),
    }


def _of_themes(bench: "AppContext") -> dict[str, Binding]:
    def theme(choice: str) -> Binding:
        return Binding(
            lambda: bench.conduct.choose_theme(cast("ThemeChoice", choice)),
            is_checked=lambda: bench.theme.choice == choice,
        )

    return {f"view.{choice}_theme": theme(choice) for choice in ("system", "light", "dark")}


def _of_tools(bench: "AppContext") -> dict[str, Binding]:
    def search() -> None:
        bench.commands.update()
        actions = bench.commands.actions
        bench.palette.open_with([actions[each] for each in actions if each != "tools.palette"])

    return {
        "tools.palette": Binding(search),
        "tools.log": Binding(bench.window.show_log),
        "tools.settings": Binding(bench.window.centre.show_settings),
        "tools.tensorboard_folder": Binding(bench.analysis.choose_tensorboard_folder),
        "tools.start_daemon": Binding(
            bench.link.start_daemon,
            lambda: f"The daemon is {bench.link.state}." if bench.link.is_ready else "",
        ),
    }


def _of_help(bench: "AppContext") -> dict[str, Binding]:
    def shortcuts() -> None:
        bench.window.centre.show_settings()
        bench.settings_page.content.show_topic("Keyboard")

    def about() -> None:
        bench.notices.post(f"MOSAIC {__version__}, MIT licence. Home: {bench.link.home.path}")

    return {
        "help.welcome": Binding(bench.window.centre.show_welcome),
        "help.shortcuts": Binding(shortcuts),
        "help.log_folder": Binding(lambda: bench.conduct.open_outside(str(bench.link.home.logs))),
        "help.about": Binding(about),
    }


def _no_daemon(bench: "AppContext") -> str:
    return "" if bench.link.is_ready else "The daemon does not answer."

"""The bindings of the commands: what each does, and why it is disabled."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QDockWidget

from gym_gui.app.commands import Binding
from gym_gui.app.screens import CENTRE_TITLES, CentreTab, WorkerTab
from gym_gui.runtime.models.theme_model import ThemeChoice
from mosaic import __version__

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext


def bindings(context: "AppContext") -> dict[str, Binding]:
    """A binding for every command of the table."""
    return {
        **_session_bindings(context),
        **_mode_bindings(context),
        **_run_bindings(context),
        **_view_bindings(context),
        **_panel_bindings(context),
        **_theme_bindings(context),
        **_tool_bindings(context),
        **_help_bindings(context),
    }


def _session_bindings(context: "AppContext") -> dict[str, Binding]:
    play, panel = context.models.play, context.models.session_panel

    def no_session_reason() -> str:
        return "" if play.is_playing else "No session is running."

    def no_agent_reason() -> str:
        return no_session_reason() or (
            "" if play.has_agent else "There is no agent; select Hybrid mode."
        )

    return {
        "session.play": Binding(panel.play),
        "session.stop": Binding(panel.stop, lambda: "" if play.is_on else "No session is running."),
        "session.pause": Binding(play.pause_or_resume, no_session_reason),
        "session.step": Binding(play.single_step, no_session_reason),
        "session.reset": Binding(play.start_new_episode, no_session_reason),
        "session.again": Binding(play.play_again, no_session_reason),
        "session.takeover": Binding(play.take_over_or_release, no_agent_reason),
        "session.environment": Binding(lambda: _select_environment(context)),
        "session.dice": Binding(panel.choice.randomize_seed),
        "session.quit": Binding(lambda: _close(context)),
    }


def _close(context: "AppContext") -> None:
    context.window.close()


def _select_environment(context: "AppContext") -> None:
    context.window.session_dock.show()
    context.session_panel.open_environment_picker()


def _mode_bindings(context: "AppContext") -> dict[str, Binding]:
    panel = context.models.session_panel

    def mode(name: str) -> Binding:
        return Binding(lambda: panel.set_mode(name), is_checked=lambda: panel.mode == name)

    return {f"session.{name}": mode(name) for name in ("human", "hybrid", "agent")}


def _run_bindings(context: "AppContext") -> dict[str, Binding]:
    def selected() -> str:
        runs = context.runs_view.selected_runs()
        return runs[0].run_id if runs else ""

    def no_run_reason() -> str:
        return "" if selected() else "No run is selected."

    def cannot_stop_reason() -> str:
        run = context.models.runs.by_id(selected())
        if run is None:
            return "No run is selected."
        return "" if context.models.run_actions.can_stop(run) else "The run has ended."

    def selected_ids() -> list[str]:
        return [run.run_id for run in context.runs_view.selected_runs()]

    return {
        "run.train": Binding(lambda: context.training_navigation.train()),  # noqa: PLW0108 - created later
        "run.open": Binding(lambda: context.analysis.show_overview(selected()), no_run_reason),
        "run.compare": Binding(lambda: context.analysis.compare(selected_ids()), no_run_reason),
        "run.tensorboard": Binding(
            lambda: context.analysis.open_tensorboard(selected_ids()), no_run_reason
        ),
        "run.duplicate": Binding(
            lambda: context.training_navigation.duplicate(selected()), no_run_reason
        ),
        "run.watch": Binding(lambda: context.navigation.watch(selected()), no_run_reason),
        "run.replay": Binding(lambda: context.navigation.replay(selected()), no_run_reason),
        "run.stop": Binding(
            lambda: context.models.run_actions.stop([selected()]), cannot_stop_reason
        ),
        "run.demo": Binding(
            lambda: context.navigation.demo.start(),  # noqa: PLW0108 - created later
            lambda: _no_daemon_reason(context),
        ),
    }


def _view_bindings(context: "AppContext") -> dict[str, Binding]:
    centre = context.window.centre

    def view(name: CentreTab, why_not: Callable[[], str]) -> Binding:
        return Binding(
            lambda: centre.show_tab(name),
            why_not,
            lambda: centre.shows_tabs and centre.current == name,
        )

    def worker_view(name: WorkerTab) -> Binding:
        return view(name, lambda: context.analysis.worker_tab_reason(name))

    return {
        **{f"view.{name}": view(name, partial(centre.tab_reason, name)) for name in CENTRE_TITLES},
        **{f"view.{name}": worker_view(name) for name in context.analysis.worker_pages},
    }


def _panel_bindings(context: "AppContext") -> dict[str, Binding]:
    window = context.window

    def panel(dock: QDockWidget) -> Binding:
        return Binding(lambda: window.toggle(dock), is_checked=lambda: not dock.isHidden())

    return {
        "view.session_panel": panel(window.session_dock),
        "view.telemetry_panel": panel(window.telemetry_dock),
        "view.runs_panel": panel(window.runs_dock),
        "view.reset_layout": Binding(window.reset_layout),
        "view.full_screen": Binding(window.toggle_full_screen, is_checked=window.isFullScreen),
    }


def _theme_bindings(context: "AppContext") -> dict[str, Binding]:
    def theme(choice: str) -> Binding:
        return Binding(
            lambda: context.navigation.choose_theme(cast("ThemeChoice", choice)),
            is_checked=lambda: context.theme.choice == choice,
        )

    return {f"view.{choice}_theme": theme(choice) for choice in ("system", "light", "dark")}


def _tool_bindings(context: "AppContext") -> dict[str, Binding]:
    def search() -> None:
        context.commands.update()
        actions = context.commands.actions
        context.palette.open_with(
            [action for name, action in actions.items() if name != "tools.palette"]
        )

    return {
        "tools.palette": Binding(search),
        "tools.log": Binding(context.window.show_log),
        "tools.settings": Binding(context.window.centre.show_settings),
        "tools.tensorboard_folder": Binding(context.analysis.select_tensorboard_folder),
        "tools.start_daemon": Binding(
            context.link.start_daemon,
            lambda: f"The daemon is {context.link.state}." if context.link.is_ready else "",
        ),
    }


def _help_bindings(context: "AppContext") -> dict[str, Binding]:
    def shortcuts() -> None:
        context.window.centre.show_settings()
        context.settings_page.content.show_topic("Keyboard")

    def about() -> None:
        context.notices.post(f"MOSAIC {__version__}, MIT licence. Home: {context.link.home.path}")

    return {
        "help.welcome": Binding(context.window.centre.show_welcome),
        "help.shortcuts": Binding(shortcuts),
        "help.log_folder": Binding(
            lambda: context.navigation.open_externally(str(context.link.home.logs))
        ),
        "help.about": Binding(about),
    }


def _no_daemon_reason(context: "AppContext") -> str:
    return "" if context.link.is_ready else "The daemon does not answer."

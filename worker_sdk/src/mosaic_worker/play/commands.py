"""CommandHandler: applies control commands to a play session, or logs why they are rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.errors import CommandError

if TYPE_CHECKING:
    from mosaic_worker.control import ControlCommand
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.play.session import PlaySession

COMMANDS = (
    *("action", "configure", "pause", "release", "reset", "resume"),
    *("set_actor", "speed", "step", "takeover"),
)

MAX_STEPS = 1000
"""Maximum of one `step` command, so that the next command is handled soon."""


class CommandHandler:
    """Handles commands in the order in which they were sent."""

    def __init__(self, session: PlaySession, emitter: Emitter) -> None:
        self._session = session
        self._emitter = emitter
        self._reported_actor = ""  # the actor that was already reported to be in control
        self._handlers: dict[str, Callable[[ControlCommand], None]] = {
            "action": self._action,
            "configure": self._configure,
            "pause": lambda _: session.pause(),
            "release": lambda command: session.release(command.seq),
            "reset": lambda command: session.start_episode(_seed(command), command.seq),
            "resume": lambda _: session.resume(),
            "set_actor": self._set_actor,
            "speed": self._speed,
            "step": self._step,
            "takeover": lambda command: session.take_over(command.seq),
        }

    def handle(self, command: ControlCommand) -> None:
        """A rejected command is answered with a `log` line; raises only what ends the run."""
        try:
            self._handlers[command.cmd](command)
        except CommandError as error:
            self._emitter.log(
                "error",
                error.code,
                f"'{command.cmd}' was rejected: {error}",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _action(self, command: ControlCommand) -> None:
        slot = self._session.slot
        if slot.is_human_active:
            self._reported_actor = ""
        elif self._reported_actor == slot.active_name:
            return  # reported once, because a held key repeats many times per second
        else:
            self._reported_actor = slot.active_name
        self._session.set_human_action(_required(command, "value"), command.seq)

    def _configure(self, command: ControlCommand) -> None:
        auto_reset, env_kwargs = command.fields.get("auto_reset"), command.fields.get("env_kwargs")
        if auto_reset is not None and not isinstance(auto_reset, bool):
            raise _invalid("auto_reset", auto_reset, "Send true or false.")
        if env_kwargs is not None and not isinstance(env_kwargs, dict):
            raise _invalid("env_kwargs", env_kwargs, 'Send an object such as {"name": value}.')
        self._session.configure(auto_reset, env_kwargs)

    def _set_actor(self, command: ControlCommand) -> None:
        name = _required(command, "actor")
        if not isinstance(name, str):
            raise _invalid("actor", name, "Send an actor's name.")
        self._session.set_actor(name, command.seq)

    def _speed(self, command: ControlCommand) -> None:
        value = _required(command, "value")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
            raise _invalid("value", value, "Send a number, 0 or more.")
        self._session.ticker.set_pace(speed=float(value))

    def _step(self, command: ControlCommand) -> None:
        count = _integer(command, "count", 1)
        if count is None or count <= MAX_STEPS:
            self._session.allow_steps(1 if count is None else count, command.seq)
            return
        raise CommandError(
            f"'count' must be at most {MAX_STEPS}, got {count}.",
            remedy=f"Send up to {MAX_STEPS} steps per command, or resume at speed 0.",
        )


def _seed(command: ControlCommand) -> int | None:
    return _integer(command, "seed", 0)


def _integer(command: ControlCommand, field: str, minimum: int) -> int | None:
    value = command.fields.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise _invalid(field, value, f"Send an integer, at least {minimum}.")
    return value


def _required(command: ControlCommand, field: str) -> Any:
    if field not in command.fields:
        raise CommandError(f"'{field}' is missing.", remedy=f"Add '{field}' to the command.")
    return command.fields[field]


def _invalid(field: str, value: Any, remedy: str) -> CommandError:
    return CommandError(f"Invalid '{field}': {value!r}.", remedy=remedy)

"""What each control command does to a session, and what is answered when it cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.play.refusal import RefusedError

if TYPE_CHECKING:
    from mosaic_worker.control import Command
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.play.session import Session

COMMANDS = (
    *("action", "configure", "pause", "release", "reset", "resume"),
    *("set_actor", "speed", "step", "takeover"),
)

MOST_STEPS = 1000
"""Of one `step` command, so that the next command is never far away."""


class Commands:
    """Obeys commands one after the other, in the order in which they were sent."""

    def __init__(self, session: Session, emitter: Emitter) -> None:
        self._session = session
        self._emitter = emitter
        self._undisturbed = ""  # the actor of whom a person was told that it acts
        self._verbs: dict[str, Callable[[Command], None]] = {
            "action": self._action,
            "configure": self._configure,
            "pause": lambda _: session.pause(),
            "release": lambda command: session.give_back(command.seq),
            "reset": lambda command: session.begin_episode(_seed(command), command.seq),
            "resume": lambda _: session.resume(),
            "set_actor": self._set_actor,
            "speed": self._speed,
            "step": self._step,
            "takeover": lambda command: session.take_over(command.seq),
        }

    def obey(self, command: Command) -> None:
        """What cannot be obeyed is answered with a `log` line; only what ends the run is raised."""
        try:
            self._verbs[command.cmd](command)
        except RefusedError as error:
            self._emitter.log(
                "error",
                error.code,
                f"'{command.cmd}' was not obeyed: {error}",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _action(self, command: Command) -> None:
        stage = self._session.stage
        if stage.person_acts:
            self._undisturbed = ""
        elif self._undisturbed == stage.acting:
            return  # said once: keys that are held down come many times a second
        else:
            self._undisturbed = stage.acting
        self._session.give_action(_required(command, "value"), command.seq)

    def _configure(self, command: Command) -> None:
        auto_reset, env_kwargs = command.fields.get("auto_reset"), command.fields.get("env_kwargs")
        if auto_reset is not None and not isinstance(auto_reset, bool):
            raise _wrong("auto_reset", auto_reset, "Send true or false.")
        if env_kwargs is not None and not isinstance(env_kwargs, dict):
            raise _wrong("env_kwargs", env_kwargs, 'Send an object such as {"name": value}.')
        self._session.configure(auto_reset, env_kwargs)

    def _set_actor(self, command: Command) -> None:
        name = _required(command, "actor")
        if not isinstance(name, str):
            raise _wrong("actor", name, "Send an actor's name.")
        self._session.cast(name, command.seq)

    def _speed(self, command: Command) -> None:
        value = _required(command, "value")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
            raise _wrong("value", value, "Send a number, 0 or more.")
        self._session.ticker.set_pace(speed=float(value))

    def _step(self, command: Command) -> None:
        count = _whole(command, "count", 1)
        if count is None or count <= MOST_STEPS:
            self._session.allow_steps(1 if count is None else count, command.seq)
            return
        raise RefusedError(
            f"{count} single steps are too many.",
            remedy=f"Take up to {MOST_STEPS} at once, or resume at speed 0.",
        )


def _seed(command: Command) -> int | None:
    return _whole(command, "seed", 0)


def _whole(command: Command, field: str, least: int) -> int | None:
    value = command.fields.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _wrong(field, value, f"Send a whole number, at least {least}.")
    return value


def _required(command: Command, field: str) -> Any:
    if field not in command.fields:
        raise RefusedError(f"It has no '{field}'.", remedy=f"Send it with '{field}'.")
    return command.fields[field]


def _wrong(field: str, value: Any, remedy: str) -> RefusedError:
    return RefusedError(f"'{field}' cannot be {value!r}.", remedy=remedy)

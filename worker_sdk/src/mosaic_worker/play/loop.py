"""play: the loop behind the `play` and `evaluate` modes of every worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mosaic_worker.play.actor import HUMAN, BorrowedActor, NamedActor
from mosaic_worker.play.commands import COMMANDS, CommandHandler
from mosaic_worker.play.session import AT_TICK, NOW, ON_COMMAND, PlaySession
from mosaic_worker.play.settings import read_settings

if TYPE_CHECKING:
    from mosaic_worker.play.actor import Actor, ActorFactory
    from mosaic_worker.play.session_env import Wrap
    from mosaic_worker.run import Run


def play(
    run: Run,
    actors: Actor | ActorFactory | Mapping[str, ActorFactory],
    *,
    name: str = "",
    wrap: Wrap | None = None,
) -> None:
    """Play until the run has its episodes or steps, or a stop is requested.

    `actors` is the worker's policy: an actor, a function that creates one for an environment, or
    a mapping of such functions by name. A human (`human`) can always act. The first actor is the
    run's `actor`, else `name`, else the first of the mapping. Steps of a single policy carry the
    name from the run's config, else `name`, else the algorithm.

    `wrap` wraps the environment for the actors; the action space must not change, and the
    unwrapped environment is recorded. Call `play` before anything else.
    """
    run.accept(*COMMANDS)
    settings = read_settings(run.config)
    factories = _make_factories(actors, settings.actor, name or run.config.algo)
    first = settings.actor or name or next(iter(factories), HUMAN)
    settings = settings._replace(actor=first)
    session = PlaySession(run, factories, settings, wrap)
    try:
        session.start_episode()
        if settings.start_paused or run.is_pause_requested:
            session.pause()
        _run_loop(run, session, CommandHandler(session, run.emitter))
    finally:
        session.close()
        if _is_actor(actors):
            NamedActor(first, cast("Actor", actors)).close()
    session.stats.report_summary()


def _run_loop(run: Run, session: PlaySession, commands: CommandHandler) -> None:
    while not run.should_stop and not session.stats.is_complete:
        turn = session.next_turn()
        if turn == NOW:
            session.run_turn(turn)
            continue
        if turn == ON_COMMAND:
            session.frames.flush()
        command = run.wait_for_command(session.ticker.seconds_left() if turn == AT_TICK else None)
        if command is not None:
            commands.handle(command)
        elif turn == AT_TICK and session.ticker.seconds_left() <= 0 and not run.should_stop:
            session.ticker.consume()
            session.run_turn(turn)


def _make_factories(actors: Any, configured: str, name: str) -> Mapping[str, ActorFactory]:
    """Actor factories by name. A single policy gets the configured name, or `name`."""
    if isinstance(actors, Mapping):
        return cast("Mapping[str, ActorFactory]", actors)
    factory = (lambda _: BorrowedActor(actors)) if _is_actor(actors) else actors
    return {configured if configured not in ("", HUMAN) else name: factory}


def _is_actor(actors: Any) -> bool:
    """Whether it is an actor, and not a class or a function that creates one."""
    return hasattr(actors, "act") and not isinstance(actors, type)

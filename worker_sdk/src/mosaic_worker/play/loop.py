"""The play loop: what every worker's `play` and `evaluate` mode consists of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mosaic_worker.play.actor import HUMAN, LentActor, Part
from mosaic_worker.play.commands import COMMANDS, Commands
from mosaic_worker.play.session import AT_TICK, NOW, ON_COMMAND, Session
from mosaic_worker.play.settings import settings_of

if TYPE_CHECKING:
    from mosaic_worker.play.actor import Actor, ActorFactory
    from mosaic_worker.play.host import Wrap
    from mosaic_worker.run import Run


def play(
    run: Run,
    actors: Actor | ActorFactory | Mapping[str, ActorFactory],
    *,
    name: str = "",
    wrap: Wrap | None = None,
) -> None:
    """Play until the run has its episodes or steps, or is told to stop. Call it first thing.

    `actors` is the worker's policy: an actor, a function that makes one for an environment, or
    several of those by name. A person (`human`) can always act, and needs no actor. The run's
    `actor` says who begins, else `name`, else the first one. A single policy's steps carry the
    name that the run gives it, else `name`, else the algorithm's.

    `wrap` puts wrappers around the environment for the actors' eyes; actions must stay what they
    are, and what is recorded is the environment inside.
    """
    run.accept(*COMMANDS)
    settings = settings_of(run.config)
    factories = _factories(actors, settings.actor, name or run.config.algo)
    first = settings.actor or name or next(iter(factories), HUMAN)
    settings = settings._replace(actor=first)
    session = Session(run, factories, settings, wrap)
    try:
        session.begin_episode()
        if settings.start_paused or run.is_told_to_pause:
            session.pause()
        _play_on(run, session, Commands(session, run.emitter))
    finally:
        session.close()
        if _is_made(actors):
            Part(first, cast("Actor", actors)).close()
    session.score.summarise()


def _play_on(run: Run, session: Session, commands: Commands) -> None:
    while not run.should_stop and not session.score.is_complete:
        turn = session.next_turn()
        if turn == NOW:
            session.take_turn(turn)
            continue
        if turn == ON_COMMAND:
            session.pictures.flush()
        command = run.wait_for_command(session.ticker.seconds_left() if turn == AT_TICK else None)
        if command is not None:
            commands.obey(command)
        elif turn == AT_TICK and session.ticker.seconds_left() <= 0 and not run.should_stop:
            session.ticker.take()
            session.take_turn(turn)


def _factories(actors: Any, wanted: str, name: str) -> Mapping[str, ActorFactory]:
    """Actors by name. A single policy is called what the run calls it, or `name`."""
    if isinstance(actors, Mapping):
        return cast("Mapping[str, ActorFactory]", actors)
    factory = (lambda _: LentActor(actors)) if _is_made(actors) else actors
    return {wanted if wanted not in ("", HUMAN) else name: factory}


def _is_made(actors: Any) -> bool:
    """Whether it is an actor, and not a class or a function that makes one."""
    return hasattr(actors, "act") and not isinstance(actors, type)

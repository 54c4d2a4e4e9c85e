"""ActorService: who can act in a session, and the run that lets somebody act.

The list is made from what the daemon knows at the moment: its workers, as they describe themselves,
and the policies that were saved. Calls wait for the daemon, so they belong on a thread.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from mosaic.client.errors import TrainerError
from mosaic.client.script_models import ScriptModelError, is_of_script
from mosaic.client.sessions.actor_descriptors import (
    HUMAN,
    RECORDED,
    ActorDescriptor,
    is_of_session_worker,
)
from mosaic.client.sessions.session_requests import (
    SESSION_WORKER,
    Part,
    SessionRequest,
    run_config,
)
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.descriptor import Environments, WorkerDescriptor, decode_descriptor
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.storage import CheckpointRecord
from mosaic.envs.catalog import environment, families

ROSTER = ("spade_bdi_rl_worker", "llm_worker", "cleanrl_worker", "corl_worker")
"""After the person, in this order; workers that are not among them follow."""

_PERSON = ActorDescriptor(
    id=HUMAN,
    label="Human-Only",
    description="You act: with keys, mouse or gamepad.",
    source="builtin",
    worker=SESSION_WORKER,
    algo=HUMAN,
)

_OF_THE_PLAY_LOOP = frozenset({"tick_ms", "speed", "turn_based", "auto_reset", "start_paused"})


class ActorService:
    """Of one daemon. Nothing is kept: the next call sees what has changed."""

    def __init__(self, client: TrainerClient) -> None:
        self._client = client

    def actors(self, env_id: str | None = None) -> tuple[ActorDescriptor, ...]:
        """All of them in the order of the roster; with `env_id`, whether each can act there.

        for actor in ActorService(client).actors("CartPole-v1"):
            print(actor.label, actor.problem or "ready")
        """
        workers = {info.worker_id: info for info in self._client.workers()}
        saved = list(self._client.checkpoints(env_id=env_id or ""))
        person, *others = _of_session_worker(workers.get(SESSION_WORKER))
        found = [
            person,
            *self._workers(workers, saved, env_id),
            *others,
            *(_of_checkpoint(checkpoint, workers) for checkpoint in saved),
        ]
        return tuple(_judged(actor, env_id) for actor in found)

    def find(self, actor_id: str, env_id: str | None = None) -> ActorDescriptor:
        """One of them. Raises `TrainerError` when there is none of that id."""
        if is_of_session_worker(actor_id):
            return _PERSON if actor_id == HUMAN else _builtin(actor_id)
        known = self.actors(env_id)
        for actor in known:
            if actor.id == actor_id:
                return actor
        where = f" for {env_id}" if env_id else ""
        raise TrainerError(
            f"There is no actor '{actor_id}'{where}.",
            remedy="Choose one of " + ", ".join(actor.id for actor in known) + ".",
            code="C220",
        )

    def request_for(self, actor_id: str, env_id: str, **fields: Any) -> TrainRunConfig:
        """The run in which the actor acts; `fields` are those of `SessionRequest`.

        client.submit(ActorService(client).request_for("random", "CartPole-v1", episodes=3))
        """
        return self.run_config(SessionRequest(env_id=env_id, actor=actor_id, **fields))

    def run_config(self, request: SessionRequest) -> TrainRunConfig:
        """The run to submit. Raises `UserError` when the actor cannot act there."""
        actor = self.find(request.actor, request.env_id)
        if not actor.is_available:
            raise TrainerError(
                f"{actor.label} cannot act in {request.env_id}: {actor.problem}",
                remedy=actor.remedy,
                code="C221",
            )
        name: str | None = actor.checkpoint_id or None
        if actor.worker == SESSION_WORKER:
            name = request.actor
            request = replace(request, params=_as_it_is_played(request))
        else:
            request = replace(request, params=self._known_params(actor, request))
        return run_config(
            request,
            Part(
                worker=actor.worker,
                actor=name,
                algo=actor.algo or None,
                extras=_extras(actor.worker, request.env_id),
            ),
        )

    def _known_params(self, actor: ActorDescriptor, request: SessionRequest) -> dict[str, Any]:
        """Without those of the play loop that the worker does not offer: it has its defaults."""
        descriptor = _described(self._client.worker(actor.worker))
        algorithm = descriptor.algorithm(actor.algo) if descriptor else None
        offered = {parameter.name for parameter in algorithm.parameters} if algorithm else set()
        return {
            name: value
            for name, value in request.params.items()
            if name in offered or name not in _OF_THE_PLAY_LOOP
        }

    def _workers(
        self, workers: dict[str, WorkerInfo], saved: Iterable[CheckpointRecord], env_id: str | None
    ) -> Iterator[ActorDescriptor]:
        newest: dict[str, CheckpointRecord] = {}
        for checkpoint in saved:
            if not is_of_script(checkpoint):
                newest.setdefault(checkpoint.worker, checkpoint)
        others = sorted(set(workers) - {*ROSTER, SESSION_WORKER})
        for worker_id in (*ROSTER, *others):
            info = workers.get(worker_id)
            if info is None:
                continue
            descriptor = _described(info)
            can_play = descriptor is not None and "play" in descriptor.modes
            if can_play or worker_id in ROSTER:
                yield _of_worker(info, descriptor, newest.get(worker_id), env_id)


def _as_it_is_played(request: SessionRequest) -> dict[str, Any]:
    """The parameters, with what the catalog knows better than the environment itself."""
    entry = environment(request.env_id)
    known = {} if entry.is_generated else {"turn_based": entry.turn_based}
    return {**known, **request.params}


def _of_session_worker(info: WorkerInfo | None) -> list[ActorDescriptor]:
    """The person first, then what the session worker itself can play with."""
    if info is None:
        missing = "The session worker, in which environments are played, was not found."
        return [_unavailable(_PERSON, missing, "Install MOSAIC again; see `mosaic workers`.")]
    descriptor = _described(info)
    if info.problem or descriptor is None:
        return [_unavailable(_PERSON, info.problem or "It does not describe itself.", info.remedy)]
    found = [_PERSON]
    for algorithm in descriptor.algorithms:
        if algorithm.id == RECORDED:
            actor = _builtin(algorithm.id, algorithm.label, algorithm.doc)
            needs = "It plays a recorded episode, and none is named."
            found.append(_unavailable(actor, needs, "Name its file: `recorded:/path/to/file`."))
        elif algorithm.id != HUMAN:
            found.append(_builtin(algorithm.id, algorithm.label, algorithm.doc))
    return found


def _builtin(actor_id: str, label: str = "", description: str = "") -> ActorDescriptor:
    kind, _, what = actor_id.partition(":")
    return ActorDescriptor(
        id=actor_id,
        label=label or (f"{kind.capitalize()}: {what}" if what else kind.capitalize()),
        description=description,
        capabilities=("takeover",),
        source="builtin",
        worker=SESSION_WORKER,
        algo=kind,
    )


def _of_worker(
    info: WorkerInfo,
    descriptor: WorkerDescriptor | None,
    newest: CheckpointRecord | None,
    env_id: str | None,
) -> ActorDescriptor:
    """A worker acts with the newest policy that it has saved, or by itself if it saves none."""
    needs_policy = descriptor is not None and descriptor.supports.policy_load
    saved = newest if needs_policy else None
    algo = saved.algo if saved else ""
    if descriptor is not None and not needs_policy and descriptor.algorithms:
        algo = descriptor.algorithms[0].id
    actor = ActorDescriptor(
        id=info.worker_id,
        label=info.label or info.worker_id,
        description=descriptor.summary if descriptor else "",
        capabilities=_capabilities(descriptor),
        environments=descriptor.environments if descriptor else Environments(any=True),
        source="worker",
        worker=info.worker_id,
        algo=algo,
        checkpoint_id=saved.checkpoint_id if saved else "",
    )
    if info.problem or descriptor is None:
        return _unavailable(actor, info.problem or "It does not describe itself.", info.remedy)
    if "play" not in descriptor.modes:
        return _unavailable(actor, "It cannot play.", "Choose another actor.")
    if needs_policy and newest is None:
        where = f" for {env_id}" if env_id else ""
        return _unavailable(
            actor,
            f"It has no saved policy{where}.",
            f"Train one first (`mosaic train {info.worker_id}`), or import a checkpoint.",
        )
    return actor


def _of_checkpoint(checkpoint: CheckpointRecord, workers: dict[str, WorkerInfo]) -> ActorDescriptor:
    info = workers.get(checkpoint.worker)
    descriptor = _described(info) if info else None
    actor = ActorDescriptor(
        id=checkpoint.checkpoint_id,
        label=_checkpoint_label(checkpoint),
        description=f"A policy saved by {info.label if info else checkpoint.worker}.",
        capabilities=_capabilities(descriptor),
        environments=Environments(ids=(checkpoint.env_id,) if checkpoint.env_id else ()),
        source="checkpoint",
        worker=checkpoint.worker,
        algo=checkpoint.algo,
        checkpoint_id=checkpoint.checkpoint_id,
    )
    if info is None:
        return _unavailable(
            actor, f"Its worker {checkpoint.worker} was not found.", "See `mosaic workers`."
        )
    if info.problem or descriptor is None:
        return _unavailable(actor, info.problem or "Its worker cannot be asked.", info.remedy)
    if is_of_script(checkpoint):
        why = ScriptModelError()
        return _unavailable(actor, why.message, why.remedy)
    if "play" not in descriptor.modes or not descriptor.supports.policy_load:
        return _unavailable(
            actor, f"{info.label} cannot play with a saved policy.", "Choose another actor."
        )
    return actor


def _judged(actor: ActorDescriptor, env_id: str | None) -> ActorDescriptor:
    """The actor as it is for this environment."""
    if env_id is None or not actor.is_available:
        return actor
    where = actor.environments
    if where.any or env_id in where.ids or environment(env_id).family in where.families:
        return actor
    known = ", ".join((*where.families, *where.ids)) or "none that it names"
    return _unavailable(
        actor, f"It does not act in {env_id}.", f"Choose an environment that it knows: {known}."
    )


def _unavailable(actor: ActorDescriptor, problem: str, remedy: str) -> ActorDescriptor:
    return msgspec.structs.replace(actor, is_available=False, problem=problem, remedy=remedy)


def _described(info: WorkerInfo) -> WorkerDescriptor | None:
    if info.descriptor_json is None:
        return None
    try:
        return decode_descriptor(info.descriptor_json, info.worker_id)
    except UserError:
        return None


def _capabilities(descriptor: WorkerDescriptor | None) -> tuple[str, ...]:
    if descriptor is None:
        return ()
    told = {
        "takeover": "play" in descriptor.modes,
        "learns": "train" in descriptor.modes,
        "loads policies": descriptor.supports.policy_load,
    }
    return tuple(name for name, is_true in told.items() if is_true)


def _checkpoint_label(checkpoint: CheckpointRecord) -> str:
    try:
        meta = msgspec.json.decode(checkpoint.meta_json, type=dict[str, Any])
    except msgspec.MsgspecError:
        meta = {}
    step = meta.get("step")
    parts = (
        checkpoint.algo or checkpoint.worker,
        checkpoint.env_id,
        f"step {step:,}" if isinstance(step, int) else checkpoint.path.rpartition("/")[2],
    )
    return " · ".join(part for part in parts if part)


def _extras(worker: str, env_id: str) -> tuple[str, ...]:
    """What the session worker's bundle needs for the environment."""
    if worker != SESSION_WORKER:
        return ()
    family = environment(env_id).family
    return tuple(known.extra for known in families() if known.id == family and known.extra)

"""ActorService: lists the actors of a daemon and makes the run in which one acts.

The list is made from the descriptors of the workers and the saved policies. Calls block on the
daemon, so a window makes them on a thread.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from mosaic.client.errors import TrainerError
from mosaic.client.former_names import FormerName
from mosaic.client.sessions.session_requests import (
    HUMAN,
    RECORDED,
    SESSION_WORKER,
    ActorBinding,
    ActorDescriptor,
    SessionRequest,
    is_script_model,
    is_session_worker_actor,
    make_run_config,
    script_model_error,
)
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.descriptor import Environments, WorkerDescriptor, decode_descriptor
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import WorkerInfo
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.storage import CheckpointRecord
from mosaic.envs.catalog import environment, families

ROSTER = ("spade_bdi_rl_worker", "llm_worker", "cleanrl_worker", "corl_worker")
"""Workers listed after the human actor, in this order; other workers follow."""

_HUMAN_ACTOR = ActorDescriptor(
    id=HUMAN,
    label="Human-Only",
    description="You act with keys, mouse or gamepad.",
    source="builtin",
    worker=SESSION_WORKER,
    algo=HUMAN,
)

_PLAY_LOOP_PARAMS = frozenset({"tick_ms", "speed", "turn_based", "auto_reset", "start_paused"})


class ActorService:
    """The actors of one daemon. Nothing is cached: each call returns the current state."""

    request_for = FormerName("make_run_config")
    run_config = FormerName("to_run_config")

    def __init__(self, client: TrainerClient) -> None:
        self._client = client

    def actors(self, env_id: str | None = None) -> tuple[ActorDescriptor, ...]:
        """List all actors in roster order; with `env_id`, whether each is available there.

        for actor in ActorService(client).actors("CartPole-v1"):
            print(actor.label, actor.problem or "ready")
        """
        workers = {info.worker_id: info for info in self._client.workers()}
        saved = list(self._client.checkpoints(env_id=env_id or ""))
        human, *others = _list_session_worker_actors(workers.get(SESSION_WORKER))
        actors = [
            human,
            *self._list_workers(workers, saved, env_id),
            *others,
            *(_describe_checkpoint(checkpoint, workers) for checkpoint in saved),
        ]
        return tuple(_check_environment(actor, env_id) for actor in actors)

    def find(self, actor_id: str, env_id: str | None = None) -> ActorDescriptor:
        """Return the actor with that id. Raises `TrainerError` if there is none."""
        if is_session_worker_actor(actor_id):
            return _HUMAN_ACTOR if actor_id == HUMAN else _make_builtin(actor_id)
        actors = self.actors(env_id)
        for actor in actors:
            if actor.id == actor_id:
                return actor
        where = f" for {env_id}" if env_id else ""
        raise TrainerError(
            f"There is no actor '{actor_id}'{where}.",
            remedy="Choose one of: " + ", ".join(actor.id for actor in actors) + ".",
            code="C220",
        )

    def make_run_config(self, actor_id: str, env_id: str, **fields: Any) -> TrainRunConfig:
        """Return the configuration of a run of the actor; `fields` are those of `SessionRequest`.

        config = ActorService(client).make_run_config("random", "CartPole-v1", episodes=3)
        client.submit(config)
        """
        return self.to_run_config(SessionRequest(env_id=env_id, actor=actor_id, **fields))

    def to_run_config(self, request: SessionRequest) -> TrainRunConfig:
        """Return the configuration to submit. Raises `UserError` if the actor is unavailable."""
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
            request = replace(request, params=_add_catalog_params(request))
        else:
            request = replace(request, params=self._filter_params(actor, request))
        return make_run_config(
            request,
            ActorBinding(
                worker=actor.worker,
                actor=name,
                algo=actor.algo or None,
                extras=_find_extras(actor.worker, request.env_id),
            ),
        )

    def _filter_params(self, actor: ActorDescriptor, request: SessionRequest) -> dict[str, Any]:
        """Drop parameters of the play loop that the worker does not have."""
        descriptor = _decode_descriptor(self._client.worker(actor.worker))
        algorithm = descriptor.algorithm(actor.algo) if descriptor else None
        supported = {parameter.name for parameter in algorithm.parameters} if algorithm else set()
        return {
            name: value
            for name, value in request.params.items()
            if name in supported or name not in _PLAY_LOOP_PARAMS
        }

    def _list_workers(
        self, workers: dict[str, WorkerInfo], saved: Iterable[CheckpointRecord], env_id: str | None
    ) -> Iterator[ActorDescriptor]:
        newest: dict[str, CheckpointRecord] = {}
        for checkpoint in saved:
            if not is_script_model(checkpoint):
                newest.setdefault(checkpoint.worker, checkpoint)
        others = sorted(set(workers) - {*ROSTER, SESSION_WORKER})
        for worker_id in (*ROSTER, *others):
            info = workers.get(worker_id)
            if info is None:
                continue
            descriptor = _decode_descriptor(info)
            can_play = descriptor is not None and "play" in descriptor.modes
            if can_play or worker_id in ROSTER:
                yield _describe_worker(info, descriptor, newest.get(worker_id), env_id)


def _add_catalog_params(request: SessionRequest) -> dict[str, Any]:
    """Return the parameters with defaults of the catalog, such as `turn_based`."""
    entry = environment(request.env_id)
    known = {} if entry.is_generated else {"turn_based": entry.turn_based}
    return {**known, **request.params}


def _list_session_worker_actors(info: WorkerInfo | None) -> list[ActorDescriptor]:
    """List the human actor, then the other actors of the session worker."""
    if info is None:
        missing = "The session worker, which runs environments for play, was not found."
        return [_mark_unavailable(_HUMAN_ACTOR, missing, "Reinstall MOSAIC; see `mosaic workers`.")]
    descriptor = _decode_descriptor(info)
    if info.problem or descriptor is None:
        return [
            _mark_unavailable(_HUMAN_ACTOR, info.problem or "It has no descriptor.", info.remedy)
        ]
    actors = [_HUMAN_ACTOR]
    for algorithm in descriptor.algorithms:
        if algorithm.id == RECORDED:
            actor = _make_builtin(algorithm.id, algorithm.label, algorithm.doc)
            problem = "It needs the file of a recorded episode."
            actors.append(_mark_unavailable(actor, problem, "Use the id `recorded:/path/to/file`."))
        elif algorithm.id != HUMAN:
            actors.append(_make_builtin(algorithm.id, algorithm.label, algorithm.doc))
    return actors


def _make_builtin(actor_id: str, label: str = "", description: str = "") -> ActorDescriptor:
    kind, _, target = actor_id.partition(":")
    return ActorDescriptor(
        id=actor_id,
        label=label or (f"{kind.capitalize()}: {target}" if target else kind.capitalize()),
        description=description,
        capabilities=("takeover",),
        source="builtin",
        worker=SESSION_WORKER,
        algo=kind,
    )


def _describe_worker(
    info: WorkerInfo,
    descriptor: WorkerDescriptor | None,
    newest: CheckpointRecord | None,
    env_id: str | None,
) -> ActorDescriptor:
    """Describe a worker as an actor; one that loads policies uses the newest saved one."""
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
        return _mark_unavailable(actor, info.problem or "It has no descriptor.", info.remedy)
    if "play" not in descriptor.modes:
        return _mark_unavailable(actor, "It does not support play.", "Choose another actor.")
    if needs_policy and newest is None:
        where = f" for {env_id}" if env_id else ""
        return _mark_unavailable(
            actor,
            f"It has no saved policy{where}.",
            f"Train one (`mosaic train {info.worker_id}`) or import a checkpoint.",
        )
    return actor


def _describe_checkpoint(
    checkpoint: CheckpointRecord, workers: dict[str, WorkerInfo]
) -> ActorDescriptor:
    info = workers.get(checkpoint.worker)
    descriptor = _decode_descriptor(info) if info else None
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
        return _mark_unavailable(
            actor, f"Its worker {checkpoint.worker} was not found.", "See `mosaic workers`."
        )
    if info.problem or descriptor is None:
        return _mark_unavailable(
            actor, info.problem or "Its worker has no descriptor.", info.remedy
        )
    if is_script_model(checkpoint):
        error = script_model_error()
        return _mark_unavailable(actor, error.message, error.remedy)
    if "play" not in descriptor.modes or not descriptor.supports.policy_load:
        return _mark_unavailable(
            actor, f"{info.label} cannot play a saved policy.", "Choose another actor."
        )
    return actor


def _check_environment(actor: ActorDescriptor, env_id: str | None) -> ActorDescriptor:
    """Return the actor, marked unavailable if it does not support the environment."""
    if env_id is None or not actor.is_available:
        return actor
    supported = actor.environments
    if supported.any or env_id in supported.ids or environment(env_id).family in supported.families:
        return actor
    names = ", ".join((*supported.families, *supported.ids)) or "none listed"
    return _mark_unavailable(
        actor, f"It does not support {env_id}.", f"Choose a supported environment: {names}."
    )


def _mark_unavailable(actor: ActorDescriptor, problem: str, remedy: str) -> ActorDescriptor:
    return msgspec.structs.replace(actor, is_available=False, problem=problem, remedy=remedy)


def _decode_descriptor(info: WorkerInfo) -> WorkerDescriptor | None:
    if info.descriptor_json is None:
        return None
    try:
        return decode_descriptor(info.descriptor_json, info.worker_id)
    except UserError:
        return None


def _capabilities(descriptor: WorkerDescriptor | None) -> tuple[str, ...]:
    if descriptor is None:
        return ()
    flags = {
        "takeover": "play" in descriptor.modes,
        "learns": "train" in descriptor.modes,
        "loads policies": descriptor.supports.policy_load,
    }
    return tuple(name for name, is_true in flags.items() if is_true)


def _checkpoint_label(checkpoint: CheckpointRecord) -> str:
    try:
        meta = msgspec.json.decode(checkpoint.meta_json, type=dict[str, Any])
    except msgspec.MsgspecError:
        meta = {}
    step = meta.get("step")
    texts = (
        checkpoint.algo or checkpoint.worker,
        checkpoint.env_id,
        f"step {step:,}" if isinstance(step, int) else checkpoint.path.rpartition("/")[2],
    )
    return " · ".join(text for text in texts if text)


def _find_extras(worker: str, env_id: str) -> tuple[str, ...]:
    """Return the extras of the session worker's bundle that the environment needs."""
    if worker != SESSION_WORKER:
        return ()
    family = environment(env_id).family
    return tuple(entry.extra for entry in families() if entry.id == family and entry.extra)

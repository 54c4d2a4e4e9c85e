"""Recorded by `test_registry.py`: runs are submitted, changed, annotated and deleted.

After each call that returned, a mark has the runs as the registry and their folders must have them.
"""

import sys
from pathlib import Path

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery, RunStats
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.run_annotations import save_annotations
from mosaic.trainer.runs.run_files import write_config
from tests.hostile.power_cut.recording import mark

_ROUNDS = 8
_CHECKPOINT_EVERY_PAGES = 20


def snapshot(registry: RunRegistry) -> dict[str, object]:
    """What the registry promises to be durable."""
    return {
        "seq": registry.last_event_seq(),
        "runs": {
            run.run_id: [
                run.state,
                run.reason,
                run.note,
                list(run.tags),
                registry.paused_seconds(run.run_id),
            ]
            for run in registry.list(RunQuery()).runs
        },
    }


def main(root: Path) -> None:
    home = Home(root / "home")
    added: list[str] = []
    for rounds in (_ROUNDS // 2, _ROUNDS):
        with RunRegistry(home.registry) as registry:
            registry._database._writer.execute(
                f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_EVERY_PAGES}"
            )
            mark(snapshot(registry))
            while len(added) < rounds:
                _change(home, registry, added)


def _change(home: Home, registry: RunRegistry, added: list[str]) -> None:
    number = len(added)
    config = TrainRunConfig(worker="w", algo="a", env_id="E-v0", seed=number)
    run_id = registry.add(new_ulid(), config, request_id=f"request {number}").run_id
    added.append(run_id)
    mark(snapshot(registry))
    write_config(home, home.run(run_id), config)
    mark({"config": run_id})
    registry.set_digests({run_id: RunStats(steps=number)})
    registry.annotate(run_id, note=f"note {number} " * 200, add_tags=[f"tag{number}"])
    mark(snapshot(registry))
    save_annotations(home, registry, run_id)
    mark({"annotations": run_id})
    if number % 4 == 3:
        registry.delete(added[number - 2])
        mark(snapshot(registry))
    if number % 2:
        registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, f"reason {number}")
        mark(snapshot(registry))
        registry.set_digests({run_id: RunStats(steps=number + 1)})
        registry.set_paused_seconds(run_id, 0.5 + number)
        mark(snapshot(registry))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

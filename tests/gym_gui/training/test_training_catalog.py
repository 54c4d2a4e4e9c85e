"""Which agents are offered for an environment, and which one a form begins with."""

import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.training.feed.worker_catalog import Catalog, CatalogWorker
from gym_gui.training.model.training_catalog import TrainingCatalog
from mosaic.contract.descriptor import decode_descriptor
from mosaic.contract.layout import Home
from mosaic.contract.readiness import WorkerInfo

FOR_LAKES: dict[str, dict[str, Any]] = {"toy-text": {}}


def worker(name: str, *algorithms: dict[str, Any], is_ready: bool) -> CatalogWorker:
    document = {
        "worker": name,
        "version": "1",
        "modes": ["train"],
        "algorithms": algorithms,
        "environments": {"any": True},
    }
    info = WorkerInfo(worker_id=name, source="folder", location="", ready=is_ready)
    return CatalogWorker(info, decode_descriptor(json.dumps(document).encode()), None)


@pytest.fixture
def catalog(tmp_path: Path, tasks: Tasks) -> TrainingCatalog:
    made = TrainingCatalog(TrainerLink(Home(tmp_path)), tasks)
    made._take(
        Catalog(
            workers=(
                worker("any_worker", {"id": "any"}, is_ready=True),
                worker(
                    "deep_worker",
                    {"id": "ppo", "recommended": FOR_LAKES | {"classic-control": {}}},
                    {"id": "ppo_atari", "families": ["atari"]},
                    is_ready=False,
                ),
                worker("table_worker", {"id": "table", "recommended": FOR_LAKES}, is_ready=True),
            )
        )
    )
    return made


def begins_with(catalog: TrainingCatalog, env_id: str) -> str:
    catalog.look_at(env_id)
    agent = catalog.to_begin_with()
    return agent.id if agent else ""


def test_a_form_begins_with_what_suits_and_is_there(catalog: TrainingCatalog) -> None:
    """Of those made for the environment one that is installed; else one made for it."""
    assert begins_with(catalog, "FrozenLake-v1") == "table_worker/table"
    assert begins_with(catalog, "CartPole-v1") == "deep_worker/ppo"


def test_an_algorithm_for_other_families_is_greyed(catalog: TrainingCatalog) -> None:
    """With the reason; in an environment that no catalog has it may well fit."""

    def reason(env_id: str) -> str:
        catalog.look_at(env_id)
        agent = catalog.find("deep_worker/ppo_atari")
        assert agent is not None
        return agent.reason

    assert reason("CartPole-v1") == "Made for atari; CartPole-v1 is classic-control."
    assert reason("ALE/Breakout-v5") == ""
    assert reason("Own-v0") == ""

"""TrainingCatalog: compatible agents, and the default agent of an environment."""

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

RECOMMENDED: dict[str, dict[str, Any]] = {"toy-text": {}}


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
    catalog = TrainingCatalog(TrainerLink(Home(tmp_path)), tasks)
    catalog._on_catalog(
        Catalog(
            workers=(
                worker("any_worker", {"id": "any"}, is_ready=True),
                worker(
                    "deep_worker",
                    {"id": "ppo", "recommended": RECOMMENDED | {"classic-control": {}}},
                    {"id": "ppo_atari", "families": ["atari"]},
                    is_ready=False,
                ),
                worker("table_worker", {"id": "table", "recommended": RECOMMENDED}, is_ready=True),
            )
        )
    )
    return catalog


def default_agent(catalog: TrainingCatalog, env_id: str) -> str:
    catalog.set_environment(env_id)
    agent = catalog.default_agent()
    return agent.id if agent else ""


def test_the_default_agent_is_recommended_and_installed(catalog: TrainingCatalog) -> None:
    """A recommended agent is preferred, also if it is not installed."""
    assert default_agent(catalog, "FrozenLake-v1") == "table_worker/table"
    assert default_agent(catalog, "CartPole-v1") == "deep_worker/ppo"


def test_an_algorithm_for_other_families_is_disabled(catalog: TrainingCatalog) -> None:
    """With a reason. An environment that the catalog does not list is allowed."""

    def reason(env_id: str) -> str:
        catalog.set_environment(env_id)
        agent = catalog.find("deep_worker/ppo_atari")
        assert agent is not None
        return agent.reason

    assert reason("CartPole-v1") == "Supports atari only; CartPole-v1 is classic-control."
    assert reason("ALE/Breakout-v5") == ""
    assert reason("Own-v0") == ""

"""What an agent needs and can, in a few words each: the badges beneath the agent combo."""

from dataclasses import dataclass

from gym_gui.runtime.models.notices import Tone
from gym_gui.training.feed.worker_catalog import Catalog
from gym_gui.training.model.training_catalog import Agent
from mosaic.contract.descriptor import WorkerCapabilities, WorkerDescriptor
from mosaic.contract.readiness import BundleInfo

_KEYS = {
    "WANDB_API_KEY": "W&B key",
    "HF_TOKEN": "Hugging Face key",
    "OPENAI_API_KEY": "OpenAI key",
    "MOSAIC_XMPP_ACCOUNT": "XMPP account",
    "MOSAIC_XMPP_PASSWORD": "XMPP password",
}
_SERVICES = {"xmpp": "XMPP"}
_BUNDLES: dict[str, tuple[str, Tone]] = {
    "ready": ("✓ bundle", "good"),
    "installing": ("… installing", "warning"),
    "missing": ("! bundle missing", "warning"),
    "broken": ("✕ bundle broken", "bad"),
    "outdated": ("! bundle outdated", "warning"),
}


@dataclass(frozen=True, slots=True)
class BadgeFact:
    """One badge; the tip says it in a sentence."""

    text: str
    tone: Tone
    tip: str


def badges_of(agent: Agent, catalog: Catalog) -> tuple[BadgeFact, ...]:
    worker = agent.descriptor
    found = [_bundle_badge(agent.worker.bundle, agent.worker.info.bundle)]
    if worker is None:
        return tuple(found)
    if agent.algorithm and agent.algorithm.gpu != "none":
        found.append(_gpu_badge(catalog.gpus, is_required=agent.algorithm.gpu == "required"))
    for service in worker.needs.services:
        name = _SERVICES.get(service, service)
        found.append(BadgeFact(name, "plain", f"It needs the service {name}."))
    if worker.needs.network:
        found.append(BadgeFact("network", "plain", "It needs a connection to the network."))
    if worker.needs.dataset:
        found.append(BadgeFact("data set", "plain", "It learns from a data set."))
    found += [_key_badge(name, catalog) for name in worker.needs.credentials]
    return tuple(found)


def abilities_of(worker: WorkerDescriptor) -> str:
    """A sentence; empty when it says of nothing that it can."""
    supports: WorkerCapabilities = worker.supports
    able = [
        words
        for is_able, words in (
            (supports.pause, "pause"),
            (supports.resume, "resume"),
            (supports.checkpoints, "save checkpoints"),
            (supports.warm_start, "start from a checkpoint"),
            (supports.policy_load, "play what it learned"),
        )
        if is_able
    ]
    if not able:
        return ""
    return f"Can {', '.join(able[:-1])}{' and ' if able[:-1] else ''}{able[-1]}."


def _bundle_badge(bundle: BundleInfo | None, name: str) -> BadgeFact:
    if bundle is None:
        return BadgeFact("✓ no bundle needed", "good", "It runs with Python alone.")
    text, tone = _BUNDLES[bundle.state]
    said = f"{bundle.problem} {bundle.remedy}".strip()
    if bundle.state == "ready":
        said = f"The bundle {name} is installed, with {bundle.packages} packages."
    elif bundle.state == "missing":
        said = f"The bundle {name} is not installed yet. Preflight offers to install it."
    return BadgeFact(text, tone, said or f"The bundle {name} is {bundle.state}.")


def _gpu_badge(gpus: tuple[str, ...], *, is_required: bool) -> BadgeFact:
    if gpus:
        return BadgeFact("✓ GPU", "good", f"It can use {', '.join(gpus)}.")
    if is_required:
        return BadgeFact("✕ GPU required", "bad", "It needs a GPU, and this machine has none.")
    return BadgeFact("! no GPU", "warning", "It would use a GPU; here it runs on the CPU.")


def _key_badge(variable: str, catalog: Catalog) -> BadgeFact:
    name = _KEYS.get(variable, variable)
    if catalog.keys.get(variable, False):
        return BadgeFact(f"✓ {name}", "good", f"{variable} is set.")
    return BadgeFact(f"{name} not set", "plain", f"{variable} is not set. Settings has a place.")

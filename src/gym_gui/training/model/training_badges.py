"""Requirements of an agent as badges, and its capabilities as a sentence."""

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
class BadgeInfo:
    """Content of a badge; `tip` is its tooltip."""

    text: str
    tone: Tone
    tip: str


def badges_of(agent: Agent, catalog: Catalog) -> tuple[BadgeInfo, ...]:
    worker = agent.descriptor
    badges = [_bundle_badge(agent.worker.bundle, agent.worker.info.bundle)]
    if worker is None:
        return tuple(badges)
    if agent.algorithm and agent.algorithm.gpu != "none":
        badges.append(_gpu_badge(catalog.gpus, is_required=agent.algorithm.gpu == "required"))
    for service in worker.needs.services:
        name = _SERVICES.get(service, service)
        badges.append(BadgeInfo(name, "plain", f"Requires the service {name}."))
    if worker.needs.network:
        badges.append(BadgeInfo("network", "plain", "Requires network access."))
    if worker.needs.dataset:
        badges.append(BadgeInfo("data set", "plain", "Learns from a data set."))
    badges += [_key_badge(name, catalog) for name in worker.needs.credentials]
    return tuple(badges)


def capabilities_text(worker: WorkerDescriptor) -> str:
    """A sentence such as `Can pause and resume.`; empty if it has none."""
    supports: WorkerCapabilities = worker.supports
    supported = [
        text
        for is_supported, text in (
            (supports.pause, "pause"),
            (supports.resume, "resume"),
            (supports.checkpoints, "save checkpoints"),
            (supports.warm_start, "start from a checkpoint"),
            (supports.policy_load, "play its policies"),
        )
        if is_supported
    ]
    if not supported:
        return ""
    *first, last = supported
    return f"Can {', '.join(first)}{' and ' if first else ''}{last}."


def _bundle_badge(bundle: BundleInfo | None, name: str) -> BadgeInfo:
    if bundle is None:
        return BadgeInfo("✓ no bundle needed", "good", "Requires no packages.")
    text, tone = _BUNDLES[bundle.state]
    tip = f"{bundle.problem} {bundle.remedy}".strip()
    if bundle.state == "ready":
        tip = f"The bundle {name} is installed, with {bundle.packages} packages."
    elif bundle.state == "missing":
        tip = f"The bundle {name} is not installed. Install it under Preflight."
    return BadgeInfo(text, tone, tip or f"The bundle {name} is {bundle.state}.")


def _gpu_badge(gpus: tuple[str, ...], *, is_required: bool) -> BadgeInfo:
    if gpus:
        return BadgeInfo("✓ GPU", "good", f"Can use {', '.join(gpus)}.")
    if is_required:
        return BadgeInfo("✕ GPU required", "bad", "Requires a GPU; this machine has none.")
    return BadgeInfo("! no GPU", "warning", "No GPU found; runs on the CPU.")


def _key_badge(variable: str, catalog: Catalog) -> BadgeInfo:
    name = _KEYS.get(variable, variable)
    if catalog.keys.get(variable, False):
        return BadgeInfo(f"✓ {name}", "good", f"{variable} is set.")
    return BadgeInfo(f"{name} not set", "plain", f"{variable} is not set. Set it under Settings.")

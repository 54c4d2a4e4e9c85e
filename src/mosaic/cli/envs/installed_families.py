"""Which families of environments can be played now. Uses the daemon's parts, not the daemon."""

from collections.abc import Sequence

from mosaic.cli.output import say
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo
from mosaic.envs import catalog
from mosaic.envs.entries import BUNDLE, Family
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.settings import load_settings
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

_MISSING = "not installed"
_WORTH_TELLING = ("installing", "broken", "outdated")


def family_states(home: Home) -> dict[str, str]:
    """By family: ready, installing, broken, outdated or not installed.

    What cannot be found out is told, and counts as not installed: the catalog is there anyway.
    """
    try:
        own = load_settings(home.settings, {}).own_worker_folders
        bundles = BundleStore(home, WorkerCatalog((CHECKOUT_WORKERS, *own))).list({})
    except UserError as error:
        say(f"{error.message} {error.remedy}".strip(), style="yellow")
        bundles = []
    ours = [info for info in bundles if info.name == BUNDLE]
    return {
        family.id: family_state(family, ours) for family in (*catalog.families(), catalog.OTHER)
    }


def family_state(family: Family, bundles: Sequence[BundleInfo]) -> str:
    """The best state among the bundles that have what the family needs."""
    states = {info.state for info in bundles if family.extra is None or family.extra in info.extras}
    if "ready" in states:
        return "ready"
    return next((state for state in _WORTH_TELLING if state in states), _MISSING)

"""Which Python draws an environment: that of the bundle which environments are played in."""

from collections.abc import Sequence
from pathlib import Path

from mosaic.contract.run_config import BundleConfig
from mosaic.envs.catalog import environment, family
from mosaic.envs.entries import BUNDLE
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.pictures.failures import PackagesMissingError
from mosaic.trainer.simulation.runtime import SimulationRuntime


def runtime_for(bundles: BundleStore, env_id: str, python_path: Sequence[str]) -> SimulationRuntime:
    """What is installed; one with more extras than the environment needs serves as well.

    Raises `PackagesMissingError`: nothing is installed for the sake of a picture.
    """
    extra = family(environment(env_id).family).extra
    extras = (extra,) if extra else ()
    prepared = bundles.lookup(BUNDLE, BundleConfig(name=BUNDLE, extras=extras))
    if prepared is None:
        raise PackagesMissingError(env_id, BUNDLE, extras)
    return SimulationRuntime(prepared.python, (prepared.code, *map(Path, python_path)))

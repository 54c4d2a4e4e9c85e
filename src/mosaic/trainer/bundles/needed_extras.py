"""Which extras of a bundle a run needs, so that nobody has to know their names.

An environment's family, videos, Weights & Biases and the hub are extras of bundles that have them.
What a run asks for is added to, never taken from.
"""

from collections.abc import Collection

import msgspec

from mosaic.contract.run_config import BundleConfig, TrainRunConfig
from mosaic.envs.catalog import environment


def with_needed_extras(config: TrainRunConfig, available: Collection[str]) -> TrainRunConfig:
    """`config`, whose bundle names every extra that it needs and the bundle has."""
    asked = config.bundle or BundleConfig()
    extras = tuple(sorted({*asked.extras, *(_needed(config) & set(available))}))
    if extras == tuple(sorted(asked.extras)):
        return config
    return msgspec.structs.replace(config, bundle=msgspec.structs.replace(asked, extras=extras))


def _needed(config: TrainRunConfig) -> set[str]:
    artifacts, params = config.artifacts, config.params
    wanted = {
        environment(config.env_id).family: True,
        "wandb": artifacts.wandb.enabled or bool(params.get("track")),
        "video": artifacts.video.enabled or bool(params.get("capture_video")),
        "hub": bool(params.get("upload_model")),
    }
    return {extra for extra, is_wanted in wanted.items() if is_wanted}

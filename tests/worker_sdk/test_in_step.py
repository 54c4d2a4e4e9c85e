"""What the SDK repeats of the contract, because it imports nothing of ours, is the same."""

from typing import get_args

import msgspec

from mosaic.contract.events import ArtifactKind
from mosaic.contract.run_config import TrainRunConfig
from mosaic_worker.emitter import ARTIFACT_KINDS
from mosaic_worker.run_config import FIELDS


def test_the_fields_of_a_run() -> None:
    """A field that the trainer stores is not called unknown by a worker."""
    assert {field.name for field in msgspec.structs.fields(TrainRunConfig)} == FIELDS


def test_the_kinds_of_artifacts() -> None:
    """A kind that the SDK lets pass is one that the store accepts."""
    assert set(ARTIFACT_KINDS) == set(get_args(ArtifactKind))

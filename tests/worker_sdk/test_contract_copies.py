"""Definitions that the SDK copies, because it does not import `mosaic`, match the contract."""

from typing import get_args

import msgspec

from mosaic.contract.events import ArtifactKind
from mosaic.contract.run_config import TrainRunConfig
from mosaic_worker.emitter import ARTIFACT_KINDS
from mosaic_worker.run_config import FIELDS


def test_run_config_fields_match() -> None:
    """A worker does not report a field of the trainer as unknown."""
    assert {field.name for field in msgspec.structs.fields(TrainRunConfig)} == FIELDS


def test_artifact_kinds_match() -> None:
    """The store accepts every kind that the SDK accepts."""
    assert set(ARTIFACT_KINDS) == set(get_args(ArtifactKind))

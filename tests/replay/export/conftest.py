"""Exports episodes of the fake client."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mosaic.replay.export.export_job import ExportJob
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from tests.replay.stand_in import StandInClient

Export = Callable[..., ExportResult]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Write `episode.<format>` and return the result, or raise the error of the job."""

    def run(client: StandInClient, kind: ExportFormat, **options: Any) -> ExportResult:
        request = ExportRequest(target=tmp_path / f"episode.{kind}", format=kind, **options)
        return ExportJob(client, "RUN", 0, request).result()

    return run

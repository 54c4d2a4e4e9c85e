"""The output of pip is converted into progress and error messages."""

from pathlib import Path

import pytest

from mosaic.contract.readiness import InstallProgress
from mosaic.trainer.bundles.errors import installation_failed
from mosaic.trainer.bundles.pip import PipProgress, pip_environment


@pytest.mark.parametrize(
    ("output", "message", "code"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "full", "T324"),
        (
            "Collecting torch==2.9\nWARNING: Retrying after NameResolutionError",
            "torch==2.9 could not be downloaded",
            "T323",
        ),
        ("ERROR: No matching distribution found for ice==9 (from x)", "there is no ice==9", "T322"),
        ("ERROR: ResolutionImpossible: for help visit", "conflicting dependencies", "T322"),
        ("ERROR: Failed building wheel for box2d", "box2d has no wheel", "T322"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "does not match the hash", "T322"),
        ("Traceback\nBoom", "Boom", "T322"),
        ("", "nothing", "T322"),
    ],
)
def test_failures_are_explained(output: str, message: str, code: str) -> None:
    """Each common failure has its own message and code."""
    error = installation_failed("lake", output.splitlines(), Path("lake.log"))
    assert message in error.message
    assert error.code == code
    assert "lake.log" in error.remedy


def test_progress_of_downloads_and_installations(tmp_path: Path) -> None:
    """Counts collected packages, downloaded bytes, then installed packages."""
    reports: list[InstallProgress] = []
    progress = PipProgress(2, reports.append)
    for line in (
        "Looking in links: /wheels",
        "Collecting torch==2.9",
        "  Downloading torch-2.9-cp311-linux.whl (200.0 MB)",
        "Progress 50000000 of 200000000",
        "Collecting numpy",
        "Installing collected packages: numpy, torch",
    ):
        progress.handle_line(line)
    (tmp_path / "numpy-2.dist-info").mkdir()
    progress.poll(tmp_path)
    progress.poll(tmp_path)
    assert [(report.phase, report.done, report.total, report.message) for report in reports] == [
        ("downloading", 0, 2, "Collecting torch==2.9"),
        ("downloading", 0, 2, "Downloading torch-2.9-cp311-linux.whl (200.0 MB)"),
        ("downloading", 0, 2, "Downloading torch-2.9-cp311-linux.whl (50 of 200 MB)"),
        ("downloading", 1, 2, "Collecting numpy"),
        ("installing", 0, 2, "Installing packages"),
        ("installing", 1, 2, "Installing packages"),
    ]


def test_pip_gets_its_settings_and_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mirrors and proxies are passed; secrets, PYTHONPATH and targets are not."""
    for name in ("PIP_INDEX_URL", "PIP_TARGET", "HTTPS_PROXY", "OPENAI_API_KEY", "PYTHONPATH"):
        monkeypatch.setenv(name, "value")
    environment = pip_environment(tmp_path)
    assert {"PIP_INDEX_URL", "HTTPS_PROXY"} <= set(environment)
    assert not {"PIP_TARGET", "OPENAI_API_KEY", "PYTHONPATH"} & set(environment)

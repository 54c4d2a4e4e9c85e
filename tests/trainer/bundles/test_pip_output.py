"""What pip prints becomes progress and, when it fails, a sentence with a remedy."""

from pathlib import Path

import pytest

from mosaic.contract.readiness import InstallProgress
from mosaic.trainer.bundles.errors import installation_failed
from mosaic.trainer.bundles.pip import PipProgress, pip_environment


@pytest.mark.parametrize(
    ("output", "sentence", "code"),
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
def test_failures_are_explained(output: str, sentence: str, code: str) -> None:
    """Each common failure has its own words, and pip's own are there too."""
    error = installation_failed("lake", output.splitlines(), Path("lake.log"))
    assert sentence in error.message
    assert error.code == code
    assert "lake.log" in error.remedy


def test_progress_counts_what_is_fetched_and_installed(tmp_path: Path) -> None:
    """Packages are counted while they are collected, bytes while one comes in, then folders."""
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
    assert [(each.phase, each.done, each.total, each.message) for each in reports] == [
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
    """Mirrors and proxies pass through; keys, other Pythons and other targets do not."""
    for name in ("PIP_INDEX_URL", "PIP_TARGET", "HTTPS_PROXY", "OPENAI_API_KEY", "PYTHONPATH"):
        monkeypatch.setenv(name, "value")
    environment = pip_environment(tmp_path)
    assert {"PIP_INDEX_URL", "HTTPS_PROXY"} <= set(environment)
    assert not {"PIP_TARGET", "OPENAI_API_KEY", "PYTHONPATH"} & set(environment)

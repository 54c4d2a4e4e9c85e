"""A worker is discovered by its `worker.toml`, without importing its code."""

from pathlib import Path

import pytest

from mosaic.contract.problems import DocumentError
from mosaic.contract.run_config import BundleConfig
from mosaic.contract.worker_manifest import (
    WorkerManifest,
    read_worker_manifest,
)

GOOD = """
id = "echo_worker"
label = "Echo Worker"
module = "echo_worker.cli"
bundle = "echo"
python = ">=3.8,<3.14"
"""


@pytest.fixture
def manifest_file(tmp_path: Path) -> Path:
    return tmp_path / "worker.toml"


def test_manifest_is_read(manifest_file: Path) -> None:
    """All fields are read."""
    manifest_file.write_text(GOOD)
    assert read_worker_manifest(manifest_file) == WorkerManifest(
        id="echo_worker",
        label="Echo Worker",
        module="echo_worker.cli",
        bundle="echo",
        python=">=3.8,<3.14",
    )


def test_bundle_and_python_may_be_left_out(manifest_file: Path) -> None:
    """A worker that needs only the standard library has no bundle."""
    manifest_file.write_text('id = "w"\nlabel = "W"\nmodule = "w"\n')
    manifest = read_worker_manifest(manifest_file)
    assert manifest.bundle is None
    assert manifest.supports_python((3, 8, 0))


def test_a_script_uses_the_script_bundle_unless_another_is_set(manifest_file: Path) -> None:
    """Without `script_bundle`, scripts run in the worker's bundle."""
    manifest_file.write_text(GOOD)
    plain = read_worker_manifest(manifest_file)
    manifest_file.write_text(GOOD + 'script_bundle = "upstream"\n')
    both = read_worker_manifest(manifest_file)
    assert (plain.bundles, both.bundles) == (("echo",), ("echo", "upstream"))
    assert plain.bundle_for(None, "/own.py") == "echo"
    assert both.bundle_for(None, None) == "echo"
    assert both.bundle_for(BundleConfig(extras=("atari",)), "/own.py") == "upstream"
    assert both.bundle_for(BundleConfig(name="echo"), "/own.py") == "echo"


def test_a_worker_may_use_the_client(manifest_file: Path) -> None:
    """Only a worker with `uses_client` gets MOSAIC's packages."""
    manifest_file.write_text(GOOD)
    assert not read_worker_manifest(manifest_file).uses_client
    manifest_file.write_text(GOOD + "uses_client = true\n")
    assert read_worker_manifest(manifest_file).uses_client


def test_later_fields_are_ignored(manifest_file: Path) -> None:
    """Fields and tables of later versions, including dates, are accepted."""
    manifest_file.write_text(GOOD + "since = 2026-01-01\n[future]\nx = nan\n")
    assert read_worker_manifest(manifest_file).id == "echo_worker"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('id = "../x"', "id"),
        ("id = 3", "id"),
        ('label = ""', "label"),
        ('module = "echo worker"', "module"),
        ('module = "-c"', "module"),
        ('bundle = "a/b"', "bundle"),
        ('python = "3.8"', "python"),
        ('python = "~=3.8"', "python"),
        ('python = ">=3.8,"', "python"),
    ],
)
def test_wrong_field_is_named_with_its_file(manifest_file: Path, line: str, field: str) -> None:
    """The error names the file and the field."""
    kept = [other for other in GOOD.splitlines() if not other.startswith(f"{field} =")]
    manifest_file.write_text("\n".join([line, *kept]))
    with pytest.raises(DocumentError, match=r"C121 .*worker manifest") as caught:
        read_worker_manifest(manifest_file)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert str(manifest_file) in str(caught.value)


def test_misspelt_field_is_recognised(manifest_file: Path) -> None:
    """A misspelt required field is suggested."""
    manifest_file.write_text(GOOD.replace("module", "modul"))
    with pytest.raises(
        DocumentError, match=r"C121 .*worker manifest .*`module` is missing"
    ) as caught:
        read_worker_manifest(manifest_file)
    assert "`modul`" in caught.value.remedy


@pytest.mark.parametrize("content", [b"id = ", b"\xff", b"a = " + b"[" * 50_000, b"#" * (2 << 20)])
def test_broken_file_is_named(manifest_file: Path, content: bytes) -> None:
    """A file that is not TOML, not UTF-8 or too large is an error with its name."""
    manifest_file.write_bytes(content)
    with pytest.raises(DocumentError, match=r"C121 .*worker manifest") as caught:
        read_worker_manifest(manifest_file)
    assert str(manifest_file) in str(caught.value)


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    """A missing file, or a folder in its place, is an error."""
    for path in (tmp_path / "worker.toml", tmp_path):
        with pytest.raises(DocumentError, match=r"C121 .*worker manifest .*cannot be read"):
            read_worker_manifest(path)


@pytest.mark.parametrize(
    ("python", "inside", "outside"),
    [
        (">=3.8", [(3, 8, 0), (3, 13, 1), (4, 0, 0)], [(3, 7, 9)]),
        (">=3.10 , <3.13", [(3, 10, 0), (3, 12, 9)], [(3, 9, 1), (3, 13, 0)]),
        ("==3.11", [(3, 11, 0), (3, 11, 9)], [(3, 12, 0)]),
        ("<=3.11", [(3, 11, 9), (3, 8, 0)], [(3, 12, 0)]),
        (">3.11", [(3, 12, 0)], [(3, 11, 9)]),
        (">=3.8,!=3.9.1", [(3, 9, 0), (3, 9, 2)], [(3, 9, 1)]),
    ],
)
def test_python_range(
    python: str, inside: list[tuple[int, int, int]], outside: list[tuple[int, int, int]]
) -> None:
    """A range of Python versions includes the right versions."""
    manifest = WorkerManifest(id="w", label="W", module="w", python=python)
    assert all(manifest.supports_python(version) for version in inside)
    assert not any(manifest.supports_python(version) for version in outside)

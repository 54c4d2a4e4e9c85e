"""Wheels made by hand, so that real pip installs run in seconds and without a network.

Copied beside a stand-in distribution's pyproject.toml it is also that distribution's build backend.
With TINY_GATE set, a build waits while that file exists: the middle of an installation, held still.
"""

from __future__ import annotations

import os
import time
import tomllib
import zipfile
from pathlib import Path


def write_wheel(folder: str | Path, name: str, version: str, files: dict[str, str]) -> str:
    """Writes a pure Python wheel with these files and returns its file name."""
    info = f"{name}-{version}.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / wheel, "w") as archive:
        for path, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(path, text)
    return wheel


def build_editable(
    wheel_directory: str,
    config_settings: object = None,  # noqa: ARG001 -- the build interface passes it
    metadata_directory: str | None = None,  # noqa: ARG001 -- the build interface passes it
) -> str:
    """What pip calls in the folder of an editable installation."""
    gate = os.environ.get("TINY_GATE")
    if gate:
        Path(f"{gate}.reached").touch()
        while Path(gate).exists():
            time.sleep(0.02)
    name = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["name"]
    return write_wheel(wheel_directory, name, "1.0", {f"{name}.pth": f"{Path.cwd() / 'src'}\n"})

"""Local packages for pip: wheels, and a package whose build can be delayed."""

import zipfile
from pathlib import Path

_SLOW_BACKEND = """
import os, time, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    with open({started!r}, "a") as file:
        file.write(f"{{os.getpid()}}\\n")
    deadline = time.monotonic() + 120
    while not os.path.exists({go!r}) and time.monotonic() < deadline:
        time.sleep(0.01)
    name = "slow-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in {files!r}.items():
            wheel.writestr(path, text)
    return name
"""


def _files(name: str, version: str) -> dict[str, str]:
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    return {**files, f"{info}/RECORD": "".join(f"{path},,\n" for path in files)}


def write_wheel(folder: Path, name: str, version: str = "1.0") -> None:
    """Write a wheel with one module of that name."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in _files(name, version).items():
            wheel.writestr(path, text)


class SlowPackage:
    """A source package `slow` whose build waits until `finish_build`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "slow"
        self._started = folder / "slow.started"
        self._go = folder / "slow.go"
        self.path.mkdir(parents=True)
        backend = _SLOW_BACKEND.format(
            started=str(self._started), go=str(self._go), files=_files("slow", "1.0")
        )
        (self.path / "slow_backend.py").write_text(backend)
        (self.path / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "slow_backend"\nbackend-path = ["."]\n'
            '[project]\nname = "slow"\nversion = "1.0"\n'
        )

    @property
    def builders(self) -> list[int]:
        """The pids of all build processes so far."""
        try:
            return [int(pid) for pid in self._started.read_text().split()]
        except FileNotFoundError:
            return []

    def finish_build(self) -> None:
        self._go.touch()

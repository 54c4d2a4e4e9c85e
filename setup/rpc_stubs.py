"""Generates the Python code of `proto/trainer.proto` in `mosaic.contract.rpc`.

python setup/rpc_stubs.py --write     update the generated code
python setup/rpc_stubs.py --check     fail if it is out of date
"""

import argparse
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = Path("mosaic/contract/rpc")


def generate(out: Path) -> dict[str, bytes]:
    """Run the compiler; return the generated files by name."""
    compiler = find_spec("grpc_tools")
    if compiler is None:
        sys.exit(
            "grpcio-tools is not installed: run this with .venv/bin/python, which ./test sets up."
        )
    # The path on the left of `=` is the package in imports of the generated modules.
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{PACKAGE}={ROOT / 'proto'}"),
            *(f"--python_out={out}", f"--grpc_python_out={out}"),
            *(f"--mypy_out=quiet:{out}", f"--mypy_grpc_out=quiet:{out}"),
            *("--plugin", f"protoc-gen-mypy={Path(sys.executable).with_name('protoc-gen-mypy')}"),
            "--plugin",
            f"protoc-gen-mypy_grpc={Path(sys.executable).with_name('protoc-gen-mypy_grpc')}",
            str(PACKAGE / "trainer.proto"),
        ],
        check=True,
    )
    return {path.name: path.read_bytes() for path in sorted((out / PACKAGE).iterdir())}


def find_outdated(files: dict[str, bytes], folder: Path) -> list[str]:
    """Return the files in `folder` that differ from the generated ones."""
    return [
        name
        for name, text in files.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folder = ROOT / "src" / PACKAGE
    with tempfile.TemporaryDirectory() as scratch:
        files = generate(Path(scratch))
    outdated = find_outdated(files, folder)
    if arguments.write:
        for name in outdated:
            (folder / name).write_bytes(files[name])
        return 0
    for name in outdated:
        print(f"{PACKAGE / name} is out of date: run setup/rpc_stubs.py --write", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())

"""Locating workers in folders, and the code of a worker by its `worker.toml`."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.worker_manifest import WORKER_MANIFEST, WorkerManifest
from mosaic.trainer.workers.found_worker import FoundWorker, SourceTree, WorkerSource
from mosaic.trainer.workers.installed_workers import InstalledManifest, raise_if_out_of_files

CHECKOUT_WORKERS = Path(mosaic.__file__).parents[2] / "workers"
"""The workers of a checkout; missing in an installed distribution."""


def manifests_in(folders: Sequence[Path]) -> Iterator[Path]:
    """Every `worker.toml` in the folders: in their subfolders, or in the folder itself."""
    for folder in folders:
        own = folder / WORKER_MANIFEST
        if own.is_file():
            yield own
            continue
        try:
            children = sorted(folder.iterdir())
        except OSError as error:
            raise_if_out_of_files(error)
            continue  # a folder that does not exist has no workers
        for child in children:
            if not child.name.startswith(".") and (child / WORKER_MANIFEST).is_file():
                yield child / WORKER_MANIFEST


_IGNORED = frozenset({"tests", "__pycache__"})


def worker_in_folder(
    manifest: WorkerManifest, location: Path, source: WorkerSource = "folder", version: str = ""
) -> FoundWorker:
    """The worker whose sources are in `src/` beside its `worker.toml`, or directly beside it.

    Everything in `src/` is its code; without `src/`, only the package of its module.
    """
    top = manifest.module.partition(".")[0]
    in_src = location / "src"
    if _has_module(in_src, manifest.module):
        sources = tuple(_source_trees(in_src))
    elif _has_module(location, manifest.module):
        sources = (_top_level(location, top),)
    elif location.name == top and _has_module(location.parent, manifest.module):
        sources = (SourceTree(top, location),)
    else:
        raise _no_module(manifest, f"in {in_src} and {location}")
    declaration = location / "pyproject.toml"
    return FoundWorker(
        manifest=manifest,
        source=source,
        location=location,
        sources=sources,
        declaration=declaration if declaration.is_file() else None,
        version=version,
    )


def worker_in_distribution(manifest: WorkerManifest, installed: InstalledManifest) -> FoundWorker:
    """The worker whose code is everything that the distribution installed on the import path."""
    root = installed.root
    if not installed.files:
        return worker_in_folder(manifest, installed.path.parent, "distribution", installed.version)
    if not _has_module(root, manifest.module):
        raise _no_module(manifest, f"in {root}")
    metadata = next((file for file in installed.files if file.match("*.dist-info/METADATA")), None)
    return FoundWorker(
        manifest=manifest,
        source="distribution",
        location=installed.path.parent,
        sources=tuple(SourceTree(name, root / name) for name in _installed_trees(installed.files)),
        declaration=root / metadata if metadata else None,
        version=installed.version,
    )


def _installed_trees(files: Sequence[PurePosixPath]) -> list[str]:
    """The top folders with Python files, and single modules.

    Subpackages of a namespace package are listed separately, without those of others.
    """
    code = [file for file in files if file.suffix == ".py"]
    folders = {file.parent for file in code if file.parent.parts}
    top_folders = {
        folder.as_posix() for folder in folders if not folders.intersection(folder.parents)
    }
    single_modules = {file.as_posix() for file in code if not file.parent.parts}
    return sorted(top_folders | single_modules)


def _source_trees(folder: Path) -> Iterator[SourceTree]:
    for entry in sorted(folder.iterdir()):
        is_package = entry.is_dir() and entry.name.isidentifier() and entry.name not in _IGNORED
        if is_package or (entry.is_file() and entry.suffix == ".py"):
            yield SourceTree(entry.name, entry)


def _top_level(root: Path, top: str) -> SourceTree:
    package = root / top
    if package.is_dir():
        return SourceTree(top, package)
    return SourceTree(f"{top}.py", root / f"{top}.py")


def _has_module(root: Path, module: str) -> bool:
    """Whether `python -m MODULE` would find it."""
    path = root.joinpath(*module.split("."))
    return (path / "__main__.py").is_file() or path.with_name(f"{path.name}.py").is_file()


def _no_module(manifest: WorkerManifest, where: str) -> UserError:
    return UserError(
        f"Its module {manifest.module} cannot be started: searched {where} for "
        f"{manifest.module.rpartition('.')[2]}/__main__.py.",
        remedy=f"Correct `module` in its {WORKER_MANIFEST}, or add the file.",
        code="T135",
    )

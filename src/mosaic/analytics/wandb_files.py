"""The folders that W&B leaves on the disk, found by their names, and what they say at a glance."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_FOLDER = re.compile(r"(?P<offline>offline-)?run-(?P<when>\d{8}_\d{6})-(?P<id>.{1,200})")


@dataclass(frozen=True, slots=True)
class WandbFolder:
    """One run of W&B."""

    path: Path
    run_id: str
    when: str
    """When it began, as `20260131_235959`: in order of time, newest last."""
    is_offline: bool
    file: Path | None
    """The file with all its records; None until it is there."""
    is_synced: bool
    """W&B has uploaded it afterwards."""


def find_wandb_folders(places: Iterable[Path]) -> tuple[WandbFolder, ...]:
    """Every run in these folders, or that these folders are; newest first."""
    found: dict[Path, WandbFolder] = {}
    for place in places:
        for path in (place, *_below(place)):
            match = _FOLDER.fullmatch(path.name)
            # The link `latest-run` names one of the others, and has no such name.
            if match and path.is_dir():
                found.setdefault(path.resolve(), _folder(path, match))
    return tuple(sorted(found.values(), key=lambda each: (each.when, each.run_id), reverse=True))


def _below(place: Path) -> list[Path]:
    try:
        return list(place.iterdir())
    except OSError:  # not there yet, or no folder
        return []


def _folder(path: Path, match: re.Match[str]) -> WandbFolder:
    files = [each for each in _below(path) if each.suffix == ".wandb"]
    file = max(files, default=None)
    return WandbFolder(
        path=path,
        run_id=match["id"],
        when=match["when"],
        is_offline=match["offline"] is not None,
        file=file,
        is_synced=file is not None and file.with_name(f"{file.name}.synced").exists(),
    )

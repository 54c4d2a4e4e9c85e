"""Unused file names for exports."""

from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.layout import create_private_folder
from mosaic.replay.export.target_file import check_target

_FORBIDDEN_IN_NAMES = '/\\:*?"<>|'
_MAX_NAMES = 1_000
_MAX_BYTES = 180
"""File systems accept 255 bytes, including suffix and number."""


def free_target(folder: Path, stem: str, suffix: str) -> Path:
    """A path in `folder` that does not exist yet; creates the folder. Blocking."""
    stem = _to_file_name(stem)
    try:
        create_private_folder(folder)
        for number in range(1, _MAX_NAMES):
            name = stem if number == 1 else f"{stem} ({number})"
            target = folder / f"{name}.{suffix}"
            if not target.exists():
                check_target(target, overwrite=False)
                return target
    except OSError as error:
        raise UserError(
            f"Cannot write to {folder}: {error.strerror}.",
            remedy="Free some disk space, or change the permissions of the folder.",
            code="C341",
        ) from error
    raise UserError(
        f"{folder} has too many exports of this name.",
        remedy="Delete some exports.",
        code="C342",
    )


def _to_file_name(stem: str) -> str:
    plain = "".join(
        "-" if char in _FORBIDDEN_IN_NAMES or not char.isprintable() else char for char in stem
    )
    return plain.encode()[:_MAX_BYTES].decode(errors="ignore").strip() or "run"

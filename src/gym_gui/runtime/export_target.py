"""Where an export is written to: a name that is not taken. Called by models that export."""

from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.replay.export.target_file import check_target

_FORBIDDEN_IN_NAMES = '/\\:*?"<>|'
_MAX_NAMES = 1_000
_MAX_BYTES = 180
"""File systems take 255, with the ending and a number."""


def free_target(folder: Path, stem: str, suffix: str) -> Path:
    """A file in `folder` that is not there yet; the folder is made. Waits for the disk."""
    stem = _as_name(stem)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, _MAX_NAMES):
            name = stem if number == 1 else f"{stem} ({number})"
            target = folder / f"{name}.{suffix}"
            if not target.exists():
                check_target(target, overwrite=False)
                return target
    except OSError as error:
        raise UserError(
            f"Nothing can be written to {folder}: {error.strerror}.",
            remedy="Make room there, or change the folder's rights.",
            code="C341",
        ) from error
    raise UserError(
        f"{folder} is full of exports of this name.",
        remedy="Delete some of them.",
        code="C342",
    )


def _as_name(stem: str) -> str:
    plain = "".join(
        "-" if sign in _FORBIDDEN_IN_NAMES or not sign.isprintable() else sign for sign in stem
    )
    return plain.encode()[:_MAX_BYTES].decode(errors="ignore").strip() or "run"

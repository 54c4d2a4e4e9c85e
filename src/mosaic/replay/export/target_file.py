"""Writes an export file atomically: into a temporary file beside it, then renamed."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mosaic.contract.errors import UserError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def write_atomically(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield the temporary path to write to; it is removed if the block fails."""
    temporary = target.parent / f".{secrets.token_hex(6)}.part"
    try:
        check_target(target, overwrite=overwrite)
        # Created first, with the default permissions of the user.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        check_target(target, overwrite=overwrite)
        temporary.replace(target)
    except OSError as error:
        raise _write_error(target, error) from error
    finally:
        with suppress(OSError):  # the folder may be removed or read-only
            temporary.unlink(missing_ok=True)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Raise `UserError` if the target is not allowed, `OSError` if it cannot be checked."""
    if target.is_dir():
        raise UserError(f"{target} is a folder.", remedy="Choose a file in it.", code="C177")
    if not target.parent.is_dir():
        raise UserError(
            f"The folder {target.parent} does not exist.",
            remedy="Create it, or choose another folder.",
            code="C178",
        )
    if target.exists() and not target.is_file():
        raise UserError(
            f"{target} is not a regular file.",
            remedy="Choose another name: the file would be replaced.",
            code="C186",
        )
    if target.exists() and not overwrite:
        raise UserError(
            f"{target} already exists.",
            remedy="Choose another name, or overwrite it (`--force` on the command line).",
            code="C179",
        )


def _write_error(target: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    if error.errno in _DISK_FULL:
        return UserError(
            f"{target} cannot be written: the disk is full ({reason}).",
            remedy="Free some space, or write to another disk.",
            code="C180",
        )
    return UserError(
        f"{target} cannot be written: {reason}.",
        remedy="Choose a folder that you can write to.",
        code="C181",
    )

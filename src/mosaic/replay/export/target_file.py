"""A new file that appears only when it is whole: written beside its place, then renamed."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mosaic.contract.errors import UserError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def new_file(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """The path to write to. Whatever goes wrong in the block, nothing is left of it."""
    part = target.parent / f".{secrets.token_hex(6)}.part"
    try:
        check_target(target, overwrite=overwrite)
        # Made first, with the rights that any new file of this person gets.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield part
        check_target(target, overwrite=overwrite)
        part.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        with suppress(OSError):  # its folder may be gone, or closed to us
            part.unlink(missing_ok=True)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Raises `UserError` when nothing may be written there, `OSError` when nobody can tell."""
    if target.is_dir():
        raise UserError(
            f"{target} is a folder.", remedy="Give the name of a file in it.", code="C177"
        )
    if not target.parent.is_dir():
        raise UserError(
            f"The folder {target.parent} is not there.",
            remedy="Make it first, or write somewhere else.",
            code="C178",
        )
    if target.exists() and not target.is_file():
        raise UserError(
            f"{target} is no ordinary file.",
            remedy="Choose another name: it would be replaced.",
            code="C186",
        )
    if target.exists() and not overwrite:
        raise UserError(
            f"{target} is there already.",
            remedy="Choose another name, or replace it (`--force` on the command line).",
            code="C179",
        )


def _unwritable(target: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return UserError(
            f"{target} cannot be written: the disk is full ({reason}).",
            remedy="Free some room, or write to another disk.",
            code="C180",
        )
    return UserError(
        f"{target} cannot be written: {reason}.",
        remedy="Write to a folder that is yours, or change its rights.",
        code="C181",
    )

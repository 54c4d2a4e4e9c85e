"""What `mosaic doctor` finds."""

from typing import Literal

import msgspec

Status = Literal["ok", "warning", "problem"]


class Finding(msgspec.Struct, kw_only=True, frozen=True):
    """One thing that was looked at."""

    check: str
    status: Status
    message: str
    remedy: str = ""

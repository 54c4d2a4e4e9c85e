"""`endpoint.json`: the address of a home's daemon. Written by the daemon, read by clients."""

from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders


class Endpoint(msgspec.Struct, kw_only=True, frozen=True):
    """Address and process of the daemon."""

    address: str
    """Such as `127.0.0.1:50055`."""
    pid: int
    start_ticks: int
    boot_id: str
    version: str
    started_at: float
    certificate: str | None = None
    """PEM file that clients must trust; None: no TLS, loopback only."""

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the file; None when it does not exist."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise UserError(
                f"{path} cannot be read: {error}.",
                remedy="Stop the daemon (`mosaic daemon stop`), remove the file and start again.",
                code="C151",
            ) from error

    def write(self, path: Path) -> None:
        write_atomically(path, msgspec.json.encode(self))


prebuild_decoders(Endpoint)

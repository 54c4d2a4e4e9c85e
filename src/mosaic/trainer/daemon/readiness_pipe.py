"""Telling whoever started the daemon how that went: one line on a file descriptor."""

import os

import msgspec

from mosaic.contract.errors import UserError


class ReadinessPipe:
    """`ready ADDRESS`, or `error {"message", "remedy", "code"}`; nothing when nobody asked."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        if descriptor is not None:
            os.set_inheritable(descriptor, False)

    def ready(self, address: str) -> None:
        self._tell(f"ready {address}\n".encode())

    def failed(self, error: UserError) -> None:
        told = {"message": error.message, "remedy": error.remedy, "code": error.code}
        self._tell(b"error " + msgspec.json.encode(told) + b"\n")

    def _tell(self, line: bytes) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            os.write(descriptor, line)
        except OSError:
            pass  # who asked is gone; the daemon serves all the same
        finally:
            os.close(descriptor)

"""Builds msgspec's decoding information at import time, on one thread.

msgspec builds a struct's type information when it is first decoded. Two threads that do so at the
same time, as in the daemon and the window, crash the process.
"""

import msgspec


def prebuild_decoders(*structs: type[msgspec.Struct]) -> None:
    """Build the decoders of `structs`. Call it at module level, below the definitions."""
    for struct in structs:
        msgspec.json.Decoder(struct)

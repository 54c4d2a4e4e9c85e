"""Types that are decoded are worked out while their module is imported, and so by one thread.

msgspec works a struct out when it is first decoded. Two threads that do so at the same moment, as
the daemon's and the window's may, crash the process.
"""

import msgspec


def work_out(*structs: type[msgspec.Struct]) -> None:
    """To be called below the definitions."""
    for struct in structs:
        msgspec.json.Decoder(struct)

"""Decompression within a limit: what is stored or sent may come out of anybody's archive."""

import zstandard


def decompressed(data: bytes, most_bytes: int) -> bytes:
    """What `data` holds. Raises `ZstdError` when it is damaged, or larger than that.

    The library's own limit does not count where the data say themselves how much they hold.
    """
    size = zstandard.frame_content_size(data)
    if size > most_bytes:
        raise zstandard.ZstdError(f"it holds {size:,} bytes, of which {most_bytes:,} are allowed")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=most_bytes)

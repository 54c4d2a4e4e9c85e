"""Size-limited decompression: stored and received data may come from an untrusted archive."""

import zstandard


def decompress(data: bytes, max_bytes: int) -> bytes:
    """Decompress `data`. Raises `ZstdError` when it is damaged or expands beyond `max_bytes`.

    The library ignores its own limit for frames that declare their content size.
    """
    size = zstandard.frame_content_size(data)
    if size > max_bytes:
        raise zstandard.ZstdError(f"expands to {size:,} bytes; the limit is {max_bytes:,}")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=max_bytes)

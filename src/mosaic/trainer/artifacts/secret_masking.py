"""Overwrites secrets in a stream of bytes, so that none leaves the machine in an export."""

from collections.abc import Collection, Iterable, Iterator

_SHORTEST = 6  # a shorter text would be found where it is no secret


class SecretMask:
    """Each secret becomes asterisks of the same length: sizes and places stay as they are."""

    def __init__(self, secrets: Collection[str]) -> None:
        """`secrets`: every spelling that must not be seen."""
        encoded = (secret.encode("utf-8", "surrogateescape") for secret in secrets)
        self._secrets = sorted({each for each in encoded if len(each) >= _SHORTEST}, key=len)[::-1]
        self._overlap = len(self._secrets[0]) - 1 if self._secrets else 0

    @property
    def is_empty(self) -> bool:
        return not self._secrets

    def text(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, b"*" * len(secret))
        return data

    def occurs_in(self, blocks: Iterable[bytes]) -> bool:
        """Whether a secret is in the blocks, or lies across two of them."""
        held = b""
        for block in blocks if self._secrets else ():
            data = held + block
            if any(secret in data for secret in self._secrets):
                return True
            held = data[max(0, len(data) - self._overlap) :]
        return False

    def stream(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks, a secret that lies across two of them included."""
        if not self._secrets:
            yield from blocks
            return
        held = b""
        for block in blocks:
            data = self.text(held + block)
            settled = max(0, len(data) - self._overlap)
            held = data[settled:]
            yield data[:settled]
        yield held

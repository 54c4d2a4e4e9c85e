"""ResponseRedactor: no response of any call contains a secret.

`server.py` installs it for all services: fields that workers fill (reasons, metadata, addresses,
file names, lines) need no redaction of their own. Compressed lines are redacted where they are
read, on the thread of their stream.
"""

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import zstandard
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from mosaic.contract.compression import decompress
from mosaic.telemetry.chunks import MAX_DECOMPRESSED
from mosaic.trainer.secrets.redaction import ByteRedactor

_BINARY_FIELDS = frozenset({"data", "pixels", "zstd"})
"""Archives, frames and compressed lines; those of logs are redacted already."""


class ResponseRedactor:
    """Safe from any thread. `spellings` returns the same object until the secrets change."""

    def __init__(self, spellings: Callable[[], Mapping[str, str]]) -> None:
        self._spellings = spellings
        self._current: tuple[Mapping[str, str], _Secrets] | None = None

    def serialize(self, message: Message, write: Callable[[Any], bytes]) -> bytes:
        """The message as `write` encodes it, without secrets."""
        data = write(message)
        secrets = self._secrets()
        if not secrets.occur_in(data):
            return data
        redacted = type(message)()
        redacted.CopyFrom(message)
        _redact_fields(redacted, secrets)
        return write(redacted)

    def redact_chunk(self, data: bytes) -> bytes:
        """Compressed lines without secrets; unchanged if there are none."""
        secrets = self._secrets()
        if secrets.are_none:
            return data
        lines = decompress(data, MAX_DECOMPRESSED)
        if not secrets.occur_in(lines):
            return data
        return zstandard.ZstdCompressor(write_checksum=True).compress(secrets.redact(lines))

    def _secrets(self) -> "_Secrets":
        spellings = self._spellings()
        if self._current is None or self._current[0] is not spellings:
            self._current = spellings, _Secrets(spellings)
        return self._current[1]


class _Secrets:
    def __init__(self, spellings: Mapping[str, str]) -> None:
        self._encoded = [text.encode("utf-8", "surrogateescape") for text in spellings]
        self._redactor = ByteRedactor(spellings)

    @property
    def are_none(self) -> bool:
        return not self._encoded

    def occur_in(self, data: bytes) -> bool:
        return any(secret in data for secret in self._encoded)

    def redact(self, data: bytes) -> bytes:
        return self._redactor.redact(data, is_final=True).data

    def redact_text(self, text: str) -> str:
        return self.redact(text.encode()).decode()


def _redact_fields(message: Message, secrets: _Secrets) -> None:
    for field, value in message.ListFields():
        if isinstance(value, MutableMapping):
            _redact_map(value, secrets)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                _redact_fields(inner, secrets)
        elif field.type == FieldDescriptor.TYPE_STRING:
            _replace(message, field, value, secrets.redact_text)
        elif field.type == FieldDescriptor.TYPE_BYTES and field.name not in _BINARY_FIELDS:
            _replace(message, field, value, secrets.redact)


def _redact_map(fields: MutableMapping[str, Any], secrets: _Secrets) -> None:
    redacted = {
        secrets.redact_text(name): secrets.redact_text(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }
    fields.clear()
    fields.update(redacted)


def _replace(
    message: Message, field: FieldDescriptor, value: Any, redact: Callable[[Any], Any]
) -> None:
    if field.is_repeated:
        value[:] = [redact(item) for item in value]
    else:
        setattr(message, field.name, redact(value))

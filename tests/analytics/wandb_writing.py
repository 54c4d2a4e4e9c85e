"""Writes `.wandb` files as W&B does, byte for byte, without it. For tests of their reader."""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024
_HISTORY, _SUMMARY, _CONFIG, _RUN, _EXIT, _STATS = 2, 3, 5, 17, 18, 7


def wandb_folder(parent: Path, records: Iterable[bytes], run_id: str = "abc12345") -> Path:
    """Write an offline run as in a folder `wandb`, and return its folder."""
    folder = parent / f"offline-run-20260131_235900-{run_id}"
    folder.mkdir(parents=True)
    (folder / f"run-{run_id}.wandb").write_bytes(log_of(records))
    return folder


def log_of(records: Iterable[bytes]) -> bytes:
    """A complete file."""
    log = bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        left, is_first = record, True
        while left or is_first:
            free_bytes = BLOCK - len(log) % BLOCK
            if free_bytes < 7:
                log += bytes(free_bytes)
                free_bytes = BLOCK
            part, left = left[: free_bytes - 7], left[free_bytes - 7 :]
            kind = (1 if not left else 2) if is_first else (4 if not left else 3)
            log += struct.pack("<IHB", zlib.crc32(bytes((kind,)) + part), len(part), kind) + part
            is_first = False
    return bytes(log)


def run_record(config: Mapping[str, Any], name: str = "CartPole ppo s1") -> bytes:
    items = b"".join(_field(1, _item(key, value)) for key, value in config.items())
    texts = {1: "abc12345", 2: "lab", 3: "cleanRL", 8: name}
    encoded_texts = b"".join(_field(number, text.encode()) for number, text in texts.items())
    return _record(_RUN, encoded_texts + _field(4, items))


def history_record(step: int, values: Mapping[str, Any]) -> bytes:
    items = b"".join(_field(1, _item(key, value)) for key, value in values.items())
    return _record(_HISTORY, items + _field(2, b"\x08" + _varint(step)))


def summary_record(values: Mapping[str, Any]) -> bytes:
    return _record(_SUMMARY, b"".join(_field(1, _item(key, each)) for key, each in values.items()))


def stats_record() -> bytes:
    """Return a record that the reader skips."""
    return _record(_STATS, b"\x08\x01")


def exit_record(code: int = 0) -> bytes:
    return _record(_EXIT, b"\x08" + _varint(code) if code else b"")


def some_records(rows: int = 3) -> list[bytes]:
    """A small run from its start to its end."""
    return [
        run_record({"seed": 1, "env_id": "CartPole-v1"}),
        *(history_record(at * 128, {"charts/return": at * 1.5}) for at in range(rows)),
        summary_record({"charts/return": 1.5 * (rows - 1)}),
        exit_record(),
    ]


def _record(number: int, content: bytes) -> bytes:
    return b"\x08\x01" + _field(number, content)


def _item(key: str, value: Any) -> bytes:
    """As W&B writes them: user values have a path, internal values a key."""
    return _field(2, key.encode()) + _field(16, json.dumps(value).encode())


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)

"""W&B runs on disk: finds their folders and reads configuration, summary and history length.

The `.wandb` file is all that a run in offline mode leaves behind. Called by the window, on a
thread.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from mosaic.analytics.declared_messages import declare_message
from mosaic.analytics.wandb_log import WandbLog

_INTERNAL_PREFIX = "_"
"""Prefix of W&B's internal keys."""
_TYPE = "._type"
_FOLDER_NAME = re.compile(r"(?P<offline>offline-)?run-(?P<when>\d{8}_\d{6})-(?P<id>.{1,200})")
_Record = declare_message(
    "mosaic.wandb",
    {
        "Record": {
            "history": (2, "History"),
            "summary": (3, "Changes"),
            "config": (5, "Changes"),
            "run": (17, "Run"),
            "exit": (18, "Exit"),
            "header": (21, "Header"),
        },
        "Item": {"key": (1, "string"), "nested_key*": (2, "string"), "value_json": (16, "string")},
        "Changes": {"update*": (1, "Item"), "remove*": (2, "Item")},
        "Step": {"num": (1, "int64")},
        "History": {"item*": (1, "Item"), "step": (2, "Step")},
        "Time": {"seconds": (1, "int64"), "nanos": (2, "int32")},
        "Run": {
            "run_id": (1, "string"),
            "entity": (2, "string"),
            "project": (3, "string"),
            "config": (4, "Changes"),
            "summary": (5, "Changes"),
            "run_group": (6, "string"),
            "display_name": (8, "string"),
            "start_time": (17, "Time"),
        },
        "Exit": {"exit_code": (1, "int32")},
        "Version": {"producer": (1, "string")},
        "Header": {"version_info": (1, "Version")},
    },
    "Record",
)
"""The fields have the numbers of W&B's own `wandb_internal.proto`."""


@dataclass(frozen=True, slots=True)
class WandbContents:
    """What was read from a file so far."""

    run_id: str = ""
    entity: str = ""
    project: str = ""
    name: str = ""
    group: str = ""
    started_at: float | None = None
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    """The last value of each key, without W&B's internal keys."""
    rows: int = 0
    """Number of history rows."""
    last_step: int | None = None
    exit_code: int | None = None
    """None: the run has not ended."""
    client: str = ""
    """The version of W&B that wrote the file."""
    unreadable: int = 0
    size_bytes: int = 0
    unread_bytes: int = 0
    """Not read yet, or part of an incomplete record."""


@dataclass(slots=True)
class _RawContents:
    """Values as JSON text: most are replaced before they are read."""

    run: Any = None
    client: str = ""
    config: dict[str, str] = field(default_factory=dict)
    summary: dict[str, str] = field(default_factory=dict)
    history: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    last_step: int | None = None
    exit_code: int | None = None
    undecodable: int = 0

    def add(self, data: bytes) -> None:
        try:
            record = _Record.FromString(data)
        except DecodeError:
            self.undecodable += 1
            return
        if record.HasField("history"):
            self.rows += 1
            self.last_step = record.history.step.num
            for item in record.history.item:
                self.history[_key(item)] = item.value_json
        elif record.HasField("summary"):
            _apply_changes(self.summary, record.summary)
        elif record.HasField("config"):
            _apply_changes(self.config, record.config)
        elif record.HasField("run"):
            self.run = record.run
            _apply_changes(self.config, record.run.config)
            _apply_changes(self.summary, record.run.summary)
        elif record.HasField("exit"):
            self.exit_code = record.exit.exit_code
        elif record.HasField("header"):
            self.client = record.header.version_info.producer


class WandbRecords:
    """One `.wandb` file. Call `read_more` until it returns False, and again later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = WandbLog(path)
        self._raw = _RawContents()
        self._contents: WandbContents | None = None

    def read_more(self) -> bool:
        """Read on; return whether there was new data. Raises `OSError`, `NotAWandbFileError`."""
        if self._path.stat().st_size < self._log.read_bytes:  # the file was replaced
            self._log, self._raw = WandbLog(self._path), _RawContents()
        previous = (self._log.read_bytes, self._log.size_bytes)
        for record in self._log.read_more():
            self._raw.add(record)
        if (self._log.read_bytes, self._log.size_bytes) != previous:
            self._contents = None
        return self._log.read_bytes != previous[0]

    @property
    def contents(self) -> WandbContents:
        """The same object until new data is read."""
        if self._contents is None:
            self._contents = self._make_contents()
        return self._contents

    def _make_contents(self) -> WandbContents:
        raw, log = self._raw, self._log
        run = raw.run
        start = run.start_time if run is not None and run.HasField("start_time") else None
        return WandbContents(
            run_id=run.run_id if run else "",
            entity=run.entity if run else "",
            project=run.project if run else "",
            name=run.display_name if run else "",
            group=run.run_group if run else "",
            started_at=start.seconds + start.nanos / 1e9 if start else None,
            config=_decode_values(raw.config),
            summary=_decode_values({**raw.history, **raw.summary}),
            rows=raw.rows,
            last_step=raw.last_step,
            exit_code=raw.exit_code,
            client=raw.client.partition("+")[0],
            unreadable=log.unreadable + raw.undecodable,
            size_bytes=log.size_bytes,
            unread_bytes=log.size_bytes - log.read_bytes,
        )


def _key(item: Any) -> str:
    return str(item.key) or ".".join(item.nested_key)


def _apply_changes(values: dict[str, str], changes: Any) -> None:
    for item in changes.update:
        values[_key(item)] = item.value_json
    for item in changes.remove:
        values.pop(_key(item), None)


def _decode_values(raw_values: dict[str, str]) -> dict[str, Any]:
    """Decode values, sorted by key, without internal keys; media become their type."""
    values: dict[str, Any] = {}
    typed = {key.removesuffix(_TYPE) for key in raw_values if key.endswith(_TYPE)}
    for key in sorted(raw_values):
        owner = next((name for name in typed if key.startswith(f"{name}.")), None)
        if owner is not None:
            values[owner] = f"({_decode_value(raw_values[owner + _TYPE])})"
        elif not key.startswith(_INTERNAL_PREFIX):
            values[key] = _decode_value(raw_values[key])
    return values


def _decode_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@dataclass(frozen=True, slots=True)
class WandbFolder:
    """The folder of one W&B run."""

    path: Path
    run_id: str
    when: str
    """Start time as `20260131_235959`, which sorts by time."""
    is_offline: bool
    file: Path | None
    """The file with all records; None until it exists."""
    is_synced: bool
    """`wandb sync` has uploaded the run."""


def find_wandb_folders(folders: Iterable[Path]) -> tuple[WandbFolder, ...]:
    """Find the runs among these folders and their direct subfolders, newest first."""
    runs: dict[Path, WandbFolder] = {}
    for folder in folders:
        for path in (folder, *_list_folder(folder)):
            match = _FOLDER_NAME.fullmatch(path.name)
            # The link `latest-run` does not match the pattern.
            if match and path.is_dir():
                runs.setdefault(path.resolve(), _read_folder(path, match))
    return tuple(sorted(runs.values(), key=lambda run: (run.when, run.run_id), reverse=True))


def _list_folder(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it does not exist, or is not a folder
        return []


def _read_folder(path: Path, match: re.Match[str]) -> WandbFolder:
    files = [file for file in _list_folder(path) if file.suffix == ".wandb"]
    file = max(files, default=None)
    return WandbFolder(
        path=path,
        run_id=match["id"],
        when=match["when"],
        is_offline=match["offline"] is not None,
        file=file,
        is_synced=file is not None and file.with_name(f"{file.name}.synced").exists(),
    )

"""What a `.wandb` file says of its run: configuration, summary, and how much history there is.

A run that was tracked offline leaves nothing else behind. Called by the window, on a thread.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mosaic.analytics.wandb_log import WandbLog
from mosaic.analytics.wandb_messages import DecodeError, Record

_OWN = "_"
"""Keys that W&B keeps for itself begin so."""
_TYPE = "._type"


@dataclass(frozen=True, slots=True)
class WandbContents:
    """All that was read until now."""

    run_id: str = ""
    entity: str = ""
    project: str = ""
    name: str = ""
    group: str = ""
    started_at: float | None = None
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    """The last value of each key; W&B's own keys are left out."""
    rows: int = 0
    """Of the history."""
    last_step: int | None = None
    exit_code: int | None = None
    """None: the run has not said that it is over."""
    client: str = ""
    """The version of W&B that wrote it."""
    unreadable: int = 0
    size_bytes: int = 0
    unread_bytes: int = 0
    """Still to be read, or the beginning of a record that was never finished."""


@dataclass(slots=True)
class _Gathered:
    """As JSON where it is: most values are replaced before anybody looks at them."""

    run: Any = None
    client: str = ""
    config: dict[str, str] = field(default_factory=dict)
    summary: dict[str, str] = field(default_factory=dict)
    history: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    last_step: int | None = None
    exit_code: int | None = None
    undecodable: int = 0

    def take(self, data: bytes) -> None:
        try:
            record = Record.FromString(data)
        except DecodeError:
            self.undecodable += 1
            return
        if record.HasField("history"):
            self.rows += 1
            self.last_step = record.history.step.num
            for item in record.history.item:
                self.history[_key(item)] = item.value_json
        elif record.HasField("summary"):
            _change(self.summary, record.summary)
        elif record.HasField("config"):
            _change(self.config, record.config)
        elif record.HasField("run"):
            self.run = record.run
            _change(self.config, record.run.config)
            _change(self.summary, record.run.summary)
        elif record.HasField("exit"):
            self.exit_code = record.exit.exit_code
        elif record.HasField("header"):
            self.client = record.header.version_info.producer


class WandbRecords:
    """One file. `read_more` until it says that there was nothing new; then again later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = WandbLog(path)
        self._gathered = _Gathered()
        self._contents: WandbContents | None = None

    def read_more(self) -> bool:
        """Whether there was something new. Raises `OSError` and `NotAWandbFileError`."""
        if self._path.stat().st_size < self._log.read_bytes:  # it is another file now
            self._log, self._gathered = WandbLog(self._path), _Gathered()
        before = (self._log.read_bytes, self._log.size_bytes)
        for record in self._log.read_more():
            self._gathered.take(record)
        if (self._log.read_bytes, self._log.size_bytes) != before:
            self._contents = None
        return self._log.read_bytes != before[0]

    @property
    def contents(self) -> WandbContents:
        """The same object while nothing is new."""
        if self._contents is None:
            self._contents = self._worked_out()
        return self._contents

    def _worked_out(self) -> WandbContents:
        found, log = self._gathered, self._log
        run = found.run
        start = run.start_time if run is not None and run.HasField("start_time") else None
        return WandbContents(
            run_id=run.run_id if run else "",
            entity=run.entity if run else "",
            project=run.project if run else "",
            name=run.display_name if run else "",
            group=run.run_group if run else "",
            started_at=start.seconds + start.nanos / 1e9 if start else None,
            config=_decoded(found.config),
            summary=_decoded({**found.history, **found.summary}),
            rows=found.rows,
            last_step=found.last_step,
            exit_code=found.exit_code,
            client=found.client.partition("+")[0],
            unreadable=log.unreadable + found.undecodable,
            size_bytes=log.size_bytes,
            unread_bytes=log.size_bytes - log.read_bytes,
        )


def _key(item: Any) -> str:
    return str(item.key) or ".".join(item.nested_key)


def _change(kept: dict[str, str], changes: Any) -> None:
    for item in changes.update:
        kept[_key(item)] = item.value_json
    for item in changes.remove:
        kept.pop(_key(item), None)


def _decoded(kept: dict[str, str]) -> dict[str, Any]:
    """In order of name, without W&B's own keys; of a picture or a histogram, what it is."""
    found: dict[str, Any] = {}
    typed = {key.removesuffix(_TYPE) for key in kept if key.endswith(_TYPE)}
    for key in sorted(kept):
        owner = next((each for each in typed if key.startswith(f"{each}.")), None)
        if owner is not None:
            found[owner] = f"({_value(kept[owner + _TYPE])})"
        elif not key.startswith(_OWN):
            found[key] = _value(kept[key])
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

"""Controls a session worker as the trainer does: sends commands, and reads lines and frames."""

import itertools
import json
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from mosaic_worker.testing import WorkerProcess

_COUNTER = itertools.count(1)


class Frame(NamedTuple):
    """The newest frame of a session."""

    width: int
    height: int
    step: int
    seq: int
    step_line: dict[str, Any]
    first_byte: int


class SessionProcess(WorkerProcess):
    """A session worker. Commands are numbered, and each call returns its number."""

    def command(self, cmd: str, **fields: Any) -> int:
        seq = next(_COUNTER)
        self.send(cmd, seq=seq, **fields)
        return seq

    def steps(self, **fields: Any) -> list[dict[str, Any]]:
        return [step for step in self.events("step") if fields.items() <= step.items()]

    def wait_for_steps(self, count: int) -> list[dict[str, Any]]:
        self.until(lambda: len(self.steps()) >= count, f"{count} steps")
        return self.steps()

    def pause(self) -> None:
        before = len(self.events("status"))
        self.command("pause")
        self.until(lambda: self.events("status")[before:], "the pause")

    def wait_for_commands(self) -> None:
        """Wait until every command sent so far was processed."""
        marker = self.command("speed", value="not a number")
        self.wait_for("log", code="W144", fields={"cmd": "speed", "seq": marker})

    def frame(self) -> Frame:
        """Return the newest complete frame."""
        return self.wait_for_frame(lambda _: True)

    def wait_for_frame(self, matches: Callable[[Frame], bool]) -> Frame:
        def find() -> Frame | None:
            frame = self._newest_frame()
            return frame if frame is not None and matches(frame) else None

        return self.until(find, "a matching frame")

    def _newest_frame(self) -> Frame | None:
        """Return None if there is none yet, or if it is being written."""
        path = self.folder / "frames"
        if not path.exists():
            return None
        data = path.read_bytes()
        width, height, channels, slots, step_bytes = struct.unpack_from("<5I", data, 12)
        size = 64 + step_bytes + width * height * channels
        size += -size % 64
        offsets = range(64, 64 + size * slots, size)
        sequence, slot = max((_sequence(data, offset), offset) for offset in offsets)
        if not sequence or sequence % 2 or _sequence(path.read_bytes(), slot) != sequence:
            return None
        step, seq, length = struct.unpack_from("<qqI", data, slot + 8)
        line = json.loads(data[slot + 64 : slot + 64 + length])
        return Frame(width, height, step, seq, line, data[slot + 64 + step_bytes])


def _sequence(data: bytes, offset: int) -> int:
    sequence: int = struct.unpack_from("<Q", data, offset)[0] if offset + 8 <= len(data) else 0
    return sequence


StartSession = Callable[..., SessionProcess]

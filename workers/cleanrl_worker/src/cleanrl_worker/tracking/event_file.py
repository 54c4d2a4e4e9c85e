"""TensorBoard's event files, without torch's own writer, which takes several times longer."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, Any

from cleanrl_worker.tracking.record_file import RecordFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FORMAT = "brain.Event:2"


class EventFile:
    """One file in `folder`; scalars as TensorBoard shows them, and texts as Markdown."""

    def __init__(self, folder: Path) -> None:
        """ImportError when tensorboard is not installed."""
        from tensorboard.compat.proto.event_pb2 import Event  # noqa: PLC0415 - takes long
        from tensorboard.compat.proto.summary_pb2 import Summary  # noqa: PLC0415

        self._event: Any = Event
        self._summary: Any = Summary
        # Readers look at the first two words, and take files in the order of their names.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file = RecordFile(folder / f"{name}.0")
        self._write(Event(wall_time=time.time(), file_version=_FORMAT))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        value = self._summary.Value
        summary = self._summary(
            value=[value(tag=name, simple_value=each) for name, each in values.items()]
        )
        self._add(summary, step)

    def text(self, tag: str, text: str) -> None:
        from tensorboard.compat.proto.summary_pb2 import SummaryMetadata  # noqa: PLC0415
        from tensorboard.compat.proto.tensor_pb2 import TensorProto  # noqa: PLC0415
        from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto  # noqa: PLC0415

        plugin = SummaryMetadata.PluginData(plugin_name="text")
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
        tensor = TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=shape)
        value = self._summary.Value(
            tag=f"{tag}/text_summary", metadata=SummaryMetadata(plugin_data=plugin), tensor=tensor
        )
        self._add(self._summary(value=[value]), 0)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _add(self, summary: Any, step: int) -> None:
        self._write(self._event(wall_time=time.time(), step=step, summary=summary))

    def _write(self, event: Any) -> None:
        self._file.write(event.SerializeToString())

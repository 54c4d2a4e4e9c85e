"""Validating an imported run, and marking it as finished."""

import time

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import ExitRecord, StartedRecord
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.artifacts.archive_format import MAX_HEADER_BYTES, ArchiveError, ArchiveHeader
from mosaic.trainer.registry import text_rules

_UNKNOWN_END = "The run was exported before it had finished; its end is unknown."
_MAX_EXIT_CODE = (1 << 31) - 1
_MAX_TIME = 253_402_300_799.0
"""The end of the year 9999, the last that `datetime` supports."""


def read_config(run: RunDirectory) -> TrainRunConfig:
    """Its configuration. Raises `ArchiveError` when it is missing or invalid."""
    if not run.config.is_file():
        raise ArchiveError("It has no config.json.")
    with run.config.open("rb") as file:
        data = file.read(MAX_HEADER_BYTES + 1)
    try:
        return load_run_config(data)
    except UserError as error:
        raise ArchiveError(f"Its config.json is invalid: {error.message}") from error


def check_record(header: ArchiveHeader) -> None:
    """Raise `ArchiveError` for a record that the registry would reject."""
    record = header.record
    times = {"exported_at": header.exported_at}
    if record is not None:
        times |= {
            "created_at": record.created_at,
            "started_at": record.started_at or 0.0,
            "ended_at": record.ended_at or 0.0,
        }
        _check_annotations(record)
        if not -_MAX_EXIT_CODE <= (record.exit_code or 0) <= _MAX_EXIT_CODE:
            raise ArchiveError("Its record has an exit code out of range.")
    for name, value in times.items():
        if not 0.0 <= value <= _MAX_TIME:
            raise ArchiveError(f"`{name}` of its record is not a valid time: {value:g}.")


def _check_annotations(record: RunRecord) -> None:
    try:
        text_rules.checked_name(record.name)
        text_rules.checked_note(record.note)
        text_rules.check_tag_count(text_rules.checked_tags("tags", record.tags))
    except UserError as error:
        raise ArchiveError(f"Its record is invalid: {error.message}") from error


def mark_finished(run: RunDirectory, header: ArchiveHeader) -> RunRecord | None:
    """Mark the run as finished in its directory, and return the record to register.

    Pids of another machine are meaningless here, or belong to other processes. With an `exit.json`
    they are never used, and no worker is started in the directory.
    """
    try:
        started = StartedRecord.read(run.started)
        ended = ExitRecord.read(run.exit)
    except UserError as error:
        raise ArchiveError(f"A record of its process is invalid: {error.message}") from error
    if ended is None:
        ended = ExitRecord(
            exit_code=None,
            signal=None,
            t=header.exported_at,
            duration_s=max(0.0, header.exported_at - started.t) if started else 0.0,
            max_rss_bytes=0,
            cpu_s=0.0,
            strays_ended=0,
            error=_UNKNOWN_END,
        )
        write_atomically(run.exit, msgspec.json.encode(ended) + b"\n")
    record = header.record
    if record is None or record.state.is_final:
        return record
    state = RunState.CANCELLED if record.state is RunState.QUEUED else RunState.LOST
    return msgspec.structs.replace(
        record, state=state, reason=_UNKNOWN_END, ended_at=record.ended_at or header.exported_at
    )


class ImportedMark(msgspec.Struct, kw_only=True, frozen=True):
    """`imported.json`: says that the directory is from an archive, also to a rebuilt registry."""

    imported_at: float
    exported_by: str
    """The version of MOSAIC in the header of the archive."""


def mark_imported(run: RunDirectory, header: ArchiveHeader) -> None:
    """Written here, never taken from the archive: its code is not run without consent."""
    mark = ImportedMark(imported_at=time.time(), exported_by=header.mosaic[:100])
    write_atomically(run.imported, msgspec.json.encode(mark) + b"\n")

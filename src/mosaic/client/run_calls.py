"""Calls that start runs, steer them and put them away."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.client.archive_files import check_readable, read_parts, write_parts
from mosaic.client.call_group import CallGroup
from mosaic.client.streams import Stream
from mosaic.contract.ids import new_ulid
from mosaic.contract.readiness import DryRunReport, PreflightReport
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message
from mosaic.contract.run_config import TrainRunConfig, load_run_config, to_json
from mosaic.contract.runs import RunRecord

_PREFLIGHT_TIMEOUT_S = 120.0  # it imports the worker's packages
_DRY_RUN_TIMEOUT_S = 300.0
_DELETE_TIMEOUT_S = 300.0


class RunCalls(CallGroup):
    """Starting, steering and putting away."""

    def submit(
        self, config: TrainRunConfig | Mapping[str, Any], *, request_id: str = ""
    ) -> RunRecord:
        """Start a run as soon as there is room for it.

        When the connection is lost meanwhile the call is made again, and still starts one run; so
        does a caller who gives the same `request_id` with the same configuration again.

            run = client.submit({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})
            print(run.run_id, run.state)
        """
        request = pb.SubmitRunRequest(
            config_json=_to_json(config), request_id=request_id or new_ulid()
        )
        return from_message(self._connection.call(lambda stub: stub.SubmitRun, request), RunRecord)

    def preflight(self, config: TrainRunConfig | Mapping[str, Any]) -> PreflightReport:
        """Whether such a run could start here, what to expect of it, and what is in the way.

        for item in client.preflight(config).items:
            print(item.status, item.check, item.message, item.remedy)
        """
        answer = self._connection.call(
            lambda stub: stub.Preflight,
            pb.RunRequest(config_json=_to_json(config)),
            timeout_s=_PREFLIGHT_TIMEOUT_S,
        )
        return from_message(answer, PreflightReport)

    def dry_run(self, config: TrainRunConfig | Mapping[str, Any]) -> DryRunReport:
        """What the worker itself says of the configuration: module, arguments, command line."""
        answer = self._connection.call(
            lambda stub: stub.DryRun,
            pb.RunRequest(config_json=_to_json(config)),
            timeout_s=_DRY_RUN_TIMEOUT_S,
        )
        return from_message(answer, DryRunReport)

    def cancel(self, run_id: str, *, reason: str = "", grace_s: float | None = None) -> RunRecord:
        """Stop a run. Returns when it is `stopping` or over; `wait` tells when it is over.

        The worker is asked first, then gets SIGTERM after `grace_s`, then its whole process group
        is killed.
        """
        request = pb.CancelRunRequest(run_id=run_id, reason=reason, grace_s=grace_s)
        return from_message(self._connection.call(lambda stub: stub.CancelRun, request), RunRecord)

    def pause(self, run_id: str) -> RunRecord:
        """Let a run stand still."""
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.PauseRun, request), RunRecord)

    def resume(self, run_id: str) -> RunRecord:
        """Let a paused run go on."""
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.ResumeRun, request), RunRecord)

    def hold(self, run_id: str) -> RunRecord:
        """Say that somebody is there, for a run whose configuration has `lease_s`.

        To be called more often than that. A run that was paused because nobody held it goes on; to
        hold a run without a lease, or one that is over, does nothing.

            run = client.hold(run_id)
        """
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.HoldRun, request), RunRecord)

    def control(self, run_id: str, command: Mapping[str, Any]) -> int:
        """Send a control command to the worker; its `seq` comes back in the step it causes.

            seq = client.control(run_id, {"cmd": "checkpoint"})

        Never made twice, so it may fail when the daemon is just restarting.
        """
        request = pb.ControlRunRequest(run_id=run_id, command_json=msgspec.json.encode(command))
        answer = self._connection.call(lambda stub: stub.ControlRun, request, patience_s=0.0)
        return answer.seq

    def annotate(
        self,
        run_id: str,
        *,
        add_tags: Collection[str] = (),
        remove_tags: Collection[str] = (),
        note: str | None = None,
        name: str | None = None,
        archived: bool | None = None,
    ) -> RunRecord:
        """Change what people have written on a run; what is None stays as it is."""
        request = pb.AnnotateRunRequest(
            run_id=run_id,
            add_tags=add_tags,
            remove_tags=remove_tags,
            note=note,
            name=name,
            archived=archived,
        )
        return from_message(
            self._connection.call(lambda stub: stub.AnnotateRun, request), RunRecord
        )

    def tag(self, run_id: str, *tags: str) -> RunRecord:
        """Add tags: `client.tag(run_id, "baseline", "paper")`."""
        return self.annotate(run_id, add_tags=tags)

    def untag(self, run_id: str, *tags: str) -> RunRecord:
        """Take tags away."""
        return self.annotate(run_id, remove_tags=tags)

    def note(self, run_id: str, text: str) -> RunRecord:
        """Replace the note on a run."""
        return self.annotate(run_id, note=text)

    def rename(self, run_id: str, name: str) -> RunRecord:
        """Give a run another name; its id stays."""
        return self.annotate(run_id, name=name)

    def archive(self, run_id: str, archived: bool = True) -> RunRecord:
        """Leave a run out of lists, or bring it back. Nothing is deleted."""
        return self.annotate(run_id, archived=archived)

    def delete(self, run_id: str) -> int:
        """Remove a run that is over, with all its files. Returns how many bytes became free."""
        answer = self._connection.call(
            lambda stub: stub.DeleteRun,
            pb.DeleteRunRequest(run_id=run_id),
            timeout_s=_DELETE_TIMEOUT_S,
            patience_s=0.0,
        )
        return answer.freed_bytes

    def export_run(self, run_id: str, file: str | Path) -> int:
        """Write everything of a run into one archive. Returns its size in bytes.

        client.export_run(run_id, "my-run.tar.gz")
        """
        parts: Stream[bytes] = Stream(
            self._connection,
            lambda stub: stub.ExportRun,
            lambda: pb.RunRef(run_id=run_id),
            lambda part: (part.data,),
            patience_s=0.0,  # an archive cannot be gone on with
        )
        with parts:
            return write_parts(Path(file), parts)

    def import_run(self, file: str | Path) -> RunRecord:
        """Take in a run that was exported, here or elsewhere."""

        check_readable(Path(file))
        requests = (pb.ArchivePart(data=part) for part in read_parts(Path(file)))
        return from_message(
            self._connection.upload(lambda stub: stub.ImportRun, requests), RunRecord
        )


def _to_json(config: TrainRunConfig | Mapping[str, Any]) -> bytes:
    return to_json(config if isinstance(config, TrainRunConfig) else load_run_config(config))

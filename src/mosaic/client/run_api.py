"""Calls that start, control, annotate, delete, export and import runs."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.client.api_base import ApiBase
from mosaic.client.file_transfer import check_readable, read_chunks, write_chunks
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


class RunApi(ApiBase):
    """Start, control and manage runs."""

    def submit(
        self, config: TrainRunConfig | Mapping[str, Any], *, request_id: str = ""
    ) -> RunRecord:
        """Submit a run; it starts as soon as resources are free.

        The call is retried after a lost connection and still starts only one run. The same holds
        for a caller that repeats it with the same `request_id` and configuration.

            run = client.submit({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})
            print(run.run_id, run.state)
        """
        request = pb.SubmitRunRequest(
            config_json=_to_json(config), request_id=request_id or new_ulid()
        )
        return from_message(self._connection.call(lambda stub: stub.SubmitRun, request), RunRecord)

    def preflight(self, config: TrainRunConfig | Mapping[str, Any]) -> PreflightReport:
        """Check whether such a run can start here, and estimate what it needs.

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
        """Let the worker resolve the configuration: module, arguments, command line."""
        answer = self._connection.call(
            lambda stub: stub.DryRun,
            pb.RunRequest(config_json=_to_json(config)),
            timeout_s=_DRY_RUN_TIMEOUT_S,
        )
        return from_message(answer, DryRunReport)

    def cancel(self, run_id: str, *, reason: str = "", grace_s: float | None = None) -> RunRecord:
        """Stop a run. Returns once it is `stopping` or finished; `wait` waits for the end.

        The worker is asked to stop, gets SIGTERM after `grace_s`, then its process group is
        killed.
        """
        request = pb.CancelRunRequest(run_id=run_id, reason=reason, grace_s=grace_s)
        return from_message(self._connection.call(lambda stub: stub.CancelRun, request), RunRecord)

    def pause(self, run_id: str) -> RunRecord:
        """Pause a run."""
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.PauseRun, request), RunRecord)

    def resume(self, run_id: str) -> RunRecord:
        """Resume a paused run."""
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.ResumeRun, request), RunRecord)

    def renew_lease(self, run_id: str) -> RunRecord:
        """Renew the lease of a run whose configuration has `lease_s`.

        Call it more often than every `lease_s` seconds. A run that was paused because its lease
        expired resumes. Does nothing for a run without a lease or a finished run.

            run = client.renew_lease(run_id)
        """
        request = pb.RunRef(run_id=run_id)
        return from_message(self._connection.call(lambda stub: stub.HoldRun, request), RunRecord)

    def control(self, run_id: str, command: Mapping[str, Any]) -> int:
        """Send a control command to the worker and return its `seq`.

        The step that the command causes carries the same number.

            seq = client.control(run_id, {"cmd": "checkpoint"})

        Never retried, so it may fail while the daemon restarts.
        """
        request = pb.ControlRunRequest(run_id=run_id, command_json=msgspec.json.encode(command))
        answer = self._connection.call(lambda stub: stub.ControlRun, request, retry_timeout_s=0.0)
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
        """Change tags, note, name or archived flag of a run; None leaves a field unchanged."""
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
        """Remove tags."""
        return self.annotate(run_id, remove_tags=tags)

    def note(self, run_id: str, text: str) -> RunRecord:
        """Replace the note of a run."""
        return self.annotate(run_id, note=text)

    def rename(self, run_id: str, name: str) -> RunRecord:
        """Change the display name of a run; its id stays the same."""
        return self.annotate(run_id, name=name)

    def archive(self, run_id: str, archived: bool = True) -> RunRecord:
        """Hide a run from lists, or show it again. Nothing is deleted."""
        return self.annotate(run_id, archived=archived)

    def delete(self, run_id: str) -> int:
        """Delete a finished run with all its files. Returns the number of freed bytes."""
        answer = self._connection.call(
            lambda stub: stub.DeleteRun,
            pb.DeleteRunRequest(run_id=run_id),
            timeout_s=_DELETE_TIMEOUT_S,
            retry_timeout_s=0.0,
        )
        return answer.freed_bytes

    def export_run(self, run_id: str, file: str | Path) -> int:
        """Export a run into one archive file. Returns its size in bytes.

        client.export_run(run_id, "my-run.tar.gz")
        """
        chunks: Stream[bytes] = Stream(
            self._connection,
            lambda stub: stub.ExportRun,
            lambda: pb.RunRef(run_id=run_id),
            lambda part: (part.data,),
            reconnect_timeout_s=0.0,  # an export cannot be continued
        )
        with chunks:
            return write_chunks(Path(file), chunks)

    def import_run(self, file: str | Path) -> RunRecord:
        """Import an exported run."""
        check_readable(Path(file))
        requests = (pb.ArchivePart(data=chunk) for chunk in read_chunks(Path(file)))
        return from_message(
            self._connection.upload(lambda stub: stub.ImportRun, requests), RunRecord
        )


def _to_json(config: TrainRunConfig | Mapping[str, Any]) -> bytes:
    return to_json(config if isinstance(config, TrainRunConfig) else load_run_config(config))

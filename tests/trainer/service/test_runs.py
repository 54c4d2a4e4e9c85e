"""Calls on runs, workers and bundles, and the requests that they reject."""

import gzip
import json
import math
import shutil
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.service.conftest import METHODS, call, error_details, rejected_call

pytestmark = pytest.mark.process

_NAN, _INFINITY = float("nan"), float("inf")
_RUN = "01J00000000000000000000000"
_INVALID_REQUESTS: list[tuple[str, Message, str]] = [
    ("SubmitRun", pb.SubmitRunRequest(config_json=b"{}", request_id="a\0b"), "request_id"),
    ("SubmitRun", pb.SubmitRunRequest(config_json=b"{}", request_id="x" * 10_000), "request_id"),
    ("SubmitRun", pb.SubmitRunRequest(config_json=b"\xff\xfe"), "run configuration"),
    ("SubmitRun", pb.SubmitRunRequest(config_json=b"[" * 100_000), "run configuration"),
    ("SubmitRun", pb.SubmitRunRequest(config_json=b'{"worker": "../../x"}'), "worker"),
    ("DryRun", pb.RunRequest(config_json=b"nonsense"), "run configuration"),
    ("Preflight", pb.RunRequest(config_json=b"null"), "run configuration"),
    ("CancelRun", pb.CancelRunRequest(run_id="../../etc"), "run_id"),
    ("CancelRun", pb.CancelRunRequest(run_id=_RUN, grace_s=_NAN), "grace_s"),
    ("CancelRun", pb.CancelRunRequest(run_id=_RUN, grace_s=-1.0), "grace_s"),
    ("CancelRun", pb.CancelRunRequest(run_id=_RUN, grace_s=_INFINITY), "grace_s"),
    ("CancelRun", pb.CancelRunRequest(run_id=_RUN, reason="\x1b[31mred"), "reason"),
    ("PauseRun", pb.RunRef(run_id=""), "run_id"),
    ("ResumeRun", pb.RunRef(run_id=_RUN.lower()), "run_id"),
    ("ControlRun", pb.ControlRunRequest(run_id=_RUN, command_json=b"x" * 5000), "command_json"),
    ("AnnotateRun", pb.AnnotateRunRequest(run_id=_RUN, add_tags=[""]), "add_tags"),
    ("AnnotateRun", pb.AnnotateRunRequest(run_id=_RUN, add_tags=["t"] * 1000), "add_tags"),
    ("AnnotateRun", pb.AnnotateRunRequest(run_id=_RUN, note="n" * 100_000), "note"),
    ("AnnotateRun", pb.AnnotateRunRequest(run_id=_RUN, name="a\nb"), "name"),
    ("DeleteRun", pb.DeleteRunRequest(run_id="\0" * 26), "run_id"),
    ("ListRuns", pb.ListRunsRequest(states=["unknown state"]), "states"),
    ("ListRuns", pb.ListRunsRequest(page_size=-1), "page_size"),
    ("ListRuns", pb.ListRunsRequest(page_size=1_000_000), "page_size"),
    ("ListRuns", pb.ListRunsRequest(page_token="nonsense"), "page token"),  # noqa: S106
    ("ListRuns", pb.ListRunsRequest(text="\u202e"), "text"),
    ("GetRun", pb.RunRef(run_id="A" * 100_000), "run_id"),
    ("WatchRuns", pb.WatchRunsRequest(after_seq=-2), "after_seq"),
    ("WatchRuns", pb.WatchRunsRequest(run_ids=["x"]), "run_ids"),
    ("WatchRuns", pb.WatchRunsRequest(run_ids=[_RUN] * 2000), "run_ids"),
    ("ExportRun", pb.RunRef(run_id="/"), "run_id"),
    ("ImportRun", pb.ArchivePart(data=b"x" * (2 << 20)), "data"),
    ("ImportRun", pb.ArchivePart(data=b"not an archive"), ""),
    ("StreamSteps", pb.StreamRequest(run_id=_RUN, after=-2), "after"),
    ("StreamSteps", pb.StreamRequest(run_id=_RUN, after=2**63 - 1), "after"),
    ("StreamMetrics", pb.StreamRequest(run_id=_RUN, min_interval_s=_NAN), "min_interval_s"),
    ("StreamEpisodes", pb.StreamRequest(run_id=_RUN, min_interval_s=-0.1), "min_interval_s"),
    ("StreamEvents", pb.StreamEventsRequest(run_id=_RUN, type="a\0"), "type"),
    ("StreamLogs", pb.StreamLogsRequest(run_id=_RUN, after=-1), "after"),
    ("StreamLogs", pb.StreamLogsRequest(run_id=_RUN, tail_lines=-1), "tail_lines"),
    ("StreamFrames", pb.StreamFramesRequest(run_id=_RUN, max_fps=_NAN), "max_fps"),
    ("StreamFrames", pb.StreamFramesRequest(run_id=_RUN, max_fps=1e9), "max_fps"),
    ("QuerySteps", pb.QueryStepsRequest(run_id=_RUN, episode=-1), "episode"),
    ("QuerySteps", pb.QueryStepsRequest(run_id=_RUN, first=2**63 - 1), "first"),
    ("QuerySteps", pb.QueryStepsRequest(run_id=_RUN, count=10**6), "count"),
    ("QueryEpisodes", pb.QueryEpisodesRequest(run_id=_RUN, first=-1), "first"),
    ("QueryEpisodes", pb.QueryEpisodesRequest(run_id=_RUN, order="unknown"), "order"),
    ("QueryEpisodes", pb.QueryEpisodesRequest(run_id=_RUN, ended="unknown"), "ended"),
    ("QueryEpisodes", pb.QueryEpisodesRequest(run_id=_RUN, least_return=math.nan), "least_return"),
    ("QueryCurve", pb.QueryCurveRequest(run_id=_RUN, axis="unknown"), "axis"),
    ("QueryCurve", pb.QueryCurveRequest(run_id=_RUN, first=_NAN), "first"),
    ("QueryCurve", pb.QueryCurveRequest(run_id=_RUN, max_points=-1), "max_points"),
    ("ListSeries", pb.RunRef(run_id="0" * 25), "run_id"),
    ("GetStats", pb.RunRef(run_id="8" + "0" * 25), "run_id"),
    ("DescribeWorker", pb.WorkerRef(worker_id="../echo_worker"), "worker_id"),
    ("InstallBundle", pb.InstallBundleRequest(name="a/b"), "name"),
    ("InstallBundle", pb.InstallBundleRequest(name="x", extras=["--index-url=y"]), "extras"),
    ("RemoveBundle", pb.RemoveBundleRequest(name=".."), "name"),
    ("RemoveBundle", pb.RemoveBundleRequest(name="x", hash="../../runs"), "hash"),
]


def test_invalid_requests_are_rejected_with_the_name_of_the_field(daemon: DaemonUnderTest) -> None:
    """INVALID_ARGUMENT with a message and a remedy; the daemon keeps running."""
    for name, request, field in _INVALID_REQUESTS:
        error = rejected_call(daemon, name, request)
        context = (name, field, error.details())
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, context
        assert field in (error.details() or ""), context
        assert len(error.details() or "") <= 2_100
        assert error_details(error)["mosaic-remedy"], context
        assert error_details(error)["mosaic-code"], context
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid
    assert "T374" not in (daemon.home.logs / "daemon.log").read_text()


def test_an_unknown_run(daemon: DaemonUnderTest) -> None:
    """Every call with a run id returns NOT_FOUND."""
    for name, method in METHODS.items():
        if "run_id" in method.input_type.fields_by_name:
            kind = getattr(pb, method.input_type.name)
            request = kind(run_id=_RUN)
            if name == "ControlRun":
                request.command_json = b'{"cmd": "reset"}'
            error = rejected_call(daemon, name, request)
            assert error.code() is grpc.StatusCode.NOT_FOUND, name


def test_the_same_request_id_is_the_same_run(daemon: DaemonUnderTest) -> None:
    """A client may repeat a request; another configuration with the same id is rejected."""
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "params": {"steps": 5}}
    request = pb.SubmitRunRequest(config_json=json.dumps(config).encode(), request_id="same")
    first = daemon.stub.SubmitRun(request)
    assert daemon.stub.SubmitRun(request).run_id == first.run_id
    config["env_id"] = "Other-v0"
    other = pb.SubmitRunRequest(config_json=json.dumps(config).encode(), request_id="same")
    assert rejected_call(daemon, "SubmitRun", other).code() is grpc.StatusCode.ALREADY_EXISTS
    daemon.until(first.run_id)


def test_cancel_pause_and_resume(daemon: DaemonUnderTest) -> None:
    """Each returns the updated run; a call in the wrong state is FAILED_PRECONDITION."""
    run_id = daemon.submit(steps=1_000_000, rate=200)
    ref = pb.RunRef(run_id=run_id)
    daemon.until(run_id, RunState.RUNNING)
    assert rejected_call(daemon, "ResumeRun", ref).code() is grpc.StatusCode.FAILED_PRECONDITION
    assert daemon.stub.PauseRun(ref).state == "paused"
    assert daemon.stub.ResumeRun(ref).state == "running"
    assert (
        rejected_call(daemon, "DeleteRun", pb.DeleteRunRequest(run_id=run_id)).code()
        is grpc.StatusCode.FAILED_PRECONDITION
    )
    seq = daemon.stub.ControlRun(
        pb.ControlRunRequest(run_id=run_id, command_json=b'{"cmd": "checkpoint"}')
    ).seq
    assert seq > 0
    stopping = daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, reason="test"))
    assert stopping.state in ("stopping", "cancelled")
    record = daemon.until(run_id)
    assert record.state == "cancelled"
    again = rejected_call(daemon, "CancelRun", pb.CancelRunRequest(run_id=run_id))
    assert again.code() is grpc.StatusCode.FAILED_PRECONDITION


def test_listing_and_describing(daemon: DaemonUnderTest) -> None:
    """Filters, pages and details of runs."""
    runs = [daemon.submit(steps=5) for _ in range(3)]
    for run_id in runs:
        daemon.until(run_id)
    daemon.stub.AnnotateRun(pb.AnnotateRunRequest(run_id=runs[0], add_tags=["good"], name="first"))
    tagged = daemon.stub.ListRuns(pb.ListRunsRequest(tag="good")).runs
    assert [(run.run_id, run.name) for run in tagged] == [(runs[0], "first")]
    page = daemon.stub.ListRuns(pb.ListRunsRequest(states=["succeeded"], page_size=2))
    rest = daemon.stub.ListRuns(
        pb.ListRunsRequest(states=["succeeded"], page_size=2, page_token=page.next_page_token)
    )
    assert [run.run_id for run in (*page.runs, *rest.runs)] == runs[::-1]
    assert page.total == 3
    details = daemon.stub.GetRun(pb.RunRef(run_id=runs[1]))
    assert json.loads(details.config_json)["params"] == {"steps": 5}
    assert "--config" in details.command
    assert details.bundle.name == "echo_worker"
    assert json.loads(details.resolved_json)["type"] == "config"
    assert [change.state for change in details.history][-1] == "succeeded"
    assert details.directory == f"trainer/runs/{runs[1]}"


def test_preflight_and_dry_run(daemon: DaemonUnderTest) -> None:
    """Preflight reports readiness, the dry run reports the summary of the worker."""
    config = {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "params": {"steps": 5}}
    request = pb.RunRequest(config_json=json.dumps(config).encode())
    report = daemon.stub.Preflight(request)
    assert report.items
    assert any("--config" in argument for argument in report.command)
    list(daemon.stub.InstallBundle(pb.InstallBundleRequest(name="echo_worker")))
    dry = daemon.stub.DryRun(request)
    assert dry.ok, dry.error_output
    assert json.loads(dry.summary_json)
    assert "--dry-run" in dry.command
    assert "--dry-run" not in dry.run_command


def test_workers_and_their_bundles(daemon: DaemonUnderTest) -> None:
    """Workers have their descriptors; a bundle is installed and removed."""
    workers = {
        worker.worker_id: worker for worker in call_without_fields(daemon, "ListWorkers").workers
    }
    echo = workers["echo_worker"]
    assert not echo.problem
    assert json.loads(echo.descriptor_json)["worker"] == "echo_worker"
    one = daemon.stub.DescribeWorker(pb.WorkerRef(worker_id="echo_worker"))
    assert one.descriptor_json == echo.descriptor_json
    missing = rejected_call(daemon, "DescribeWorker", pb.WorkerRef(worker_id="echo_workr"))
    assert missing.code() is grpc.StatusCode.NOT_FOUND
    assert "echo_worker" in error_details(missing)["mosaic-remedy"]

    progress = list(daemon.stub.InstallBundle(pb.InstallBundleRequest(name="echo_worker")))
    assert progress[-1].phase == "done"
    assert progress[-1].bundle.state == "ready"
    bundles = {bundle.name: bundle for bundle in call_without_fields(daemon, "ListBundles").bundles}
    assert bundles["echo_worker"].state == "ready"
    assert daemon.stub.DescribeWorker(pb.WorkerRef(worker_id="echo_worker")).ready
    removed = daemon.stub.RemoveBundle(pb.RemoveBundleRequest(name="echo_worker"))
    assert removed.removed
    assert rejected_call(
        daemon, "InstallBundle", pb.InstallBundleRequest(name="no_such_bundle")
    ).code() in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)


def call_without_fields(daemon: DaemonUnderTest, name: str) -> Any:
    """Make a call with an empty request and return its response."""
    (response,) = call(daemon, name, getattr(pb, METHODS[name].input_type.name)())
    return response


def test_export_and_import(daemon: DaemonUnderTest) -> None:
    """An exported run is imported with its record and telemetry."""
    run_id = daemon.submit(steps=500)
    daemon.until(run_id)
    daemon.stub.AnnotateRun(pb.AnnotateRunRequest(run_id=run_id, note="a note"))
    before = daemon.stub.GetStats(pb.RunRef(run_id=run_id))
    parts = list(daemon.stub.ExportRun(pb.RunRef(run_id=run_id)))
    with pytest.raises(grpc.RpcError) as caught:
        daemon.stub.ImportRun(iter(parts))
    assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    record = daemon.stub.ImportRun(iter(parts))
    assert (record.run_id, record.state, record.note) == (run_id, "succeeded", "a note")

    def counts() -> pb.TelemetryCounts | None:
        now = daemon.stub.GetStats(pb.RunRef(run_id=run_id))
        return now if now.steps == before.steps else None

    assert eventually(counts) == before


def test_an_export_contains_no_secret(tmp_path: Path) -> None:
    """A secret that a worker wrote into its log is masked."""
    daemon = DaemonUnderTest(tmp_path)
    daemon.environment["WANDB_API_KEY"] = "hunter2-hunter2-hunter2"
    try:
        daemon.start()
        run_id = daemon.submit(steps=5)
        daemon.until(run_id)
        with daemon.run(run_id).worker_log.open("a") as log:
            log.write("the key is hunter2-hunter2-hunter2\n")
        parts = daemon.stub.ExportRun(pb.RunRef(run_id=run_id))
        plain = gzip.decompress(b"".join(part.data for part in parts))
        assert b"the key is ***" in plain
        assert b"hunter2" not in plain
    finally:
        daemon.clean_up()


def test_an_interrupted_import(daemon: DaemonUnderTest) -> None:
    """A truncated archive or a cancelled upload leaves no files."""
    run_id = daemon.submit(steps=20_000)
    daemon.until(run_id)
    complete = b"".join(part.data for part in daemon.stub.ExportRun(pb.RunRef(run_id=run_id)))
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    half = [pb.ArchivePart(data=complete[: len(complete) // 2])]
    with pytest.raises(grpc.RpcError) as caught:
        daemon.stub.ImportRun(iter(half))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT

    def cancelled_upload() -> Any:
        yield from half
        importing.cancel()
        yield from half

    importing = daemon.stub.ImportRun.future(cancelled_upload())
    with pytest.raises((grpc.RpcError, grpc.FutureCancelledError)):
        importing.result(timeout=60)
    eventually(lambda: not list(daemon.home.runs.iterdir()))
    assert not daemon.stub.ListRuns(pb.ListRunsRequest()).runs
    all_parts = (
        pb.ArchivePart(data=complete[at : at + 65_536]) for at in range(0, len(complete), 65_536)
    )
    assert daemon.stub.ImportRun(all_parts).run_id == run_id


def test_health(daemon: DaemonUnderTest) -> None:
    """Process, home, address, runs, disk, memory and CPUs of the daemon."""
    daemon.until(daemon.submit(steps=5))
    health = daemon.stub.GetHealth(pb.GetHealthRequest())
    assert health.pid == daemon.pid
    assert health.home == str(daemon.home.path)
    assert health.address == daemon.address
    assert dict(health.runs_by_state) == {"succeeded": 1}
    assert health.disk_free_bytes > 0
    assert 0 < health.rss_bytes < 200 << 20
    assert health.cpus_free <= health.cpus


def test_an_import_that_the_registry_rejects(daemon: DaemonUnderTest) -> None:
    """The files of the run are deleted, so that the next import works."""
    run_id = daemon.submit(steps=5)
    daemon.until(run_id)
    parts = list(daemon.stub.ExportRun(pb.RunRef(run_id=run_id)))
    shutil.rmtree(daemon.run(run_id).path)
    assert rejected_call(daemon, "ImportRun", parts[0]).code() is grpc.StatusCode.ALREADY_EXISTS
    assert not daemon.run(run_id).path.exists()
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    assert daemon.stub.ImportRun(iter(parts)).digest.steps == 5


def test_an_imported_run_has_its_output(daemon: DaemonUnderTest) -> None:
    """The output tail is read from the imported log."""
    run_id = daemon.submit(steps=5)
    daemon.until(run_id)
    with daemon.run(run_id).worker_log.open("a") as log:
        log.write("the last line\n")
    parts = list(daemon.stub.ExportRun(pb.RunRef(run_id=run_id)))
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    daemon.stub.ImportRun(iter(parts))
    assert daemon.stub.GetRun(pb.RunRef(run_id=run_id)).output_tail[-1] == "the last line"

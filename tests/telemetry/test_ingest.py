"""How ingest handles the lines of a worker."""

import math
from collections.abc import Callable

import pytest

from mosaic.contract.decode import RejectKind
from mosaic.contract.events import MAX_LINE_BYTES
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Spool, as_line, step

Stored = Callable[[], TelemetryReader]

GOLDEN = b"""
{"type":"config","run_id":"...","algo":"ppo","env_id":"LunarLander-v3","seed":123,"args":{}}
{"type":"step","episode_id":"...","step":42,"action":1,"reward":1.0,"terminated":false,"truncated":false,"obs":{},"t":1700.512}
{"type":"episode","episode_id":"...","steps":512,"return":241.7,"t_end":1712.004}
{"type":"metric","name":"policy_loss","value":0.0042,"t":1712.100}
""".strip().split(b"\n")


def test_the_documented_older_lines_ingest_verbatim(spool: Spool, stored: Stored) -> None:
    """The four lines of the contract are stored byte for byte."""
    spool.write(*GOLDEN)
    reader = stored()
    lines = [event.line for event in reader.events_after(-1)]
    lines += reader.chunks_after("step", -1)[0].split()
    lines += reader.chunks_after("metric", -1)[0].split()
    assert sorted(lines) == sorted(GOLDEN)
    assert reader.stats().rejects == 0


def test_a_complete_episode_round_trips(spool: Spool, stored: Stored) -> None:
    """Start, steps and end of an episode become steps in order and a rollup."""
    spool.write(
        {"type": "episode_start", "episode_id": "a", "episode": 0, "seed": 7},
        *(step(n, "a", obs=[n, n / 2], reward=0.5) for n in range(10)),
        {"type": "episode", "episode_id": "a", "steps": 10, "return": 5.0, "terminated": True},
    )
    reader = stored()
    (episode,) = reader.episodes()
    assert (episode.episode, episode.steps, episode.total_return) == (0, 10, 5.0)
    assert episode.is_over
    assert episode.terminated
    assert [record.obs for record in reader.steps(0, 3, 5)] == [[3, 1.5], [4, 2.0], [5, 2.5]]


def test_a_step_of_an_unknown_episode_creates_it(spool: Spool, stored: Stored) -> None:
    """Steps without episode_start are stored, and their return is summed."""
    spool.write(step(0, "unstarted"), step(1, "unstarted"))
    reader = stored()
    (episode,) = reader.episodes()
    assert (episode.episode_id, episode.steps, episode.total_return) == ("unstarted", 2, 2.0)
    assert not episode.is_over


def test_episodes_are_numbered_in_order_of_starting(spool: Spool, stored: Stored) -> None:
    """The worker's own number is used if it is free."""
    spool.write(
        {"type": "episode_start", "episode_id": "a", "episode": 5},
        step(0, "b"),
        {"type": "episode_start", "episode_id": "c", "episode": 5},
    )
    assert [(e.episode, e.episode_id) for e in stored().episodes()] == [
        (5, "a"),
        (6, "b"),
        (7, "c"),
    ]


def test_an_episode_number_out_of_range_is_rejected(spool: Spool, stored: Stored) -> None:
    """Only its line is rejected; ingest continues."""
    spool.write(
        {"type": "episode_start", "episode_id": "a", "episode": (1 << 63) - 1}, step(0, "b")
    )
    reader = stored()
    assert [episode.episode_id for episode in reader.episodes()] == ["b"]
    assert reader.stats().rejects_by_kind == {RejectKind.WRONG_TYPE: 1}


def test_a_late_episode_number_is_applied(spool: Spool, stored: Stored) -> None:
    """The start of an episode may be written after its first step."""
    spool.write(
        step(0, "a"),
        {"type": "episode_start", "episode_id": "a", "episode": 7},
        {"type": "episode_start", "episode_id": "b", "episode": 7},
        step(0, "c"),
    )
    assert [(e.episode, e.episode_id) for e in stored().episodes()] == [
        (7, "a"),
        (8, "b"),
        (9, "c"),
    ]


def test_duplicate_steps_are_stored_and_counted(spool: Spool, stored: Stored) -> None:
    """Both the episode and the run count them."""
    spool.write(step(0), step(1), step(2), step(1, action=9), step(3))
    reader = stored()
    assert [(r.step, r.action) for r in reader.steps(0)] == [(0, 0), (1, 1), (1, 9), (2, 2), (3, 3)]
    assert reader.episodes()[0].duplicate_steps == 1
    assert reader.stats().duplicate_steps == 1
    assert reader.stats().steps == 5


def test_late_steps_are_sorted_and_counted(spool: Spool, stored: Stored) -> None:
    """Steps that arrive out of order are read in order."""
    spool.write(step(0), step(5), step(3), step(6))
    reader = stored()
    assert [record.step for record in reader.steps(0)] == [0, 3, 5, 6]
    assert reader.stats().out_of_order_steps == 1
    assert reader.stats().duplicate_steps == 0


def test_steps_of_two_agents_are_not_duplicates(spool: Spool, stored: Stored) -> None:
    """Each agent numbers its own steps."""
    spool.write(*(step(n, agent_id=agent) for n in range(3) for agent in ("red", "blue")))
    reader = stored()
    assert reader.stats().duplicate_steps == 0
    assert [(r.step, r.agent_id) for r in reader.steps(0, 1, 1)] == [(1, "red"), (1, "blue")]


def test_columns_are_read_as_steps(spool: Spool, stored: Stored) -> None:
    """Steps from columns and from step lines have the same form."""
    spool.write(
        {
            "type": "steps",
            "episode_id": "a",
            "first": 0,
            "actions": [1, 2],
            "rewards": [0.5, "NaN"],
        },
        {"type": "steps", "episode_id": "a", "first": 2, "actions": [3, 4], "rewards": [1, 2]},
    )
    reader = stored()
    assert [(r.step, r.action) for r in reader.steps(0, 1, 2)] == [(1, 2), (2, 3)]
    assert math.isnan(reader.steps(0, 1, 1)[0].reward)
    assert reader.stats().steps == 4
    assert math.isnan(reader.episodes()[0].total_return)


@pytest.mark.parametrize(
    "token", ['"NaN"', '"Infinity"', '"-Infinity"', "NaN", "Infinity", "-Infinity", "1e999"]
)
def test_non_finite_numbers_are_preserved(spool: Spool, stored: Stored, token: str) -> None:
    """Strings, bare names as Python writes them, and overflowing numbers are read as floats."""
    value = float(token.strip('"'))
    spool.write(
        b'{"type":"step","episode_id":"NaN","step":0,"action":0,"reward":%s,"terminated":false,'
        b'"truncated":false,"obs":[[%s,1]],"info":{"a":%s}}' % ((token.encode(),) * 3),
        b'{"type":"metric","name":"loss","value":%s}' % token.encode(),
    )
    reader = stored()
    (record,) = reader.steps(0)
    (metric,) = reader.metrics_after(-1)
    for number in (record.reward, record.obs[0][0], record.info["a"], metric.metric.value):
        assert isinstance(number, float)
        assert number == value or (math.isnan(number) and math.isnan(value))
    assert record.episode_id == "NaN"
    assert reader.stats().rejects == 0


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"hello there", RejectKind.NOT_JSON),
        (b'{"type":"step","episode_id":"a"', RejectKind.NOT_JSON),
        (b"\x00\x01\x02\x80\xff", RejectKind.NOT_UTF8),
        (b'{"type":"vision","x":"\xff"}', RejectKind.NOT_UTF8),
        (as_line(step(0, x="?")).replace(b"?", b"\xff"), RejectKind.NOT_UTF8),
        (b"[1, 2]", RejectKind.NOT_AN_OBJECT),
        (b"null", RejectKind.NOT_AN_OBJECT),
        (b'{"a":1}', RejectKind.NO_TYPE),
        (b'{"type":5}', RejectKind.WRONG_TYPE),
        (b'{"type":"step"}', RejectKind.WRONG_TYPE),
        (b'{"type":"metric","name":"x"}', RejectKind.WRONG_TYPE),
        (b'{"type":"artifact","kind":"video"}', RejectKind.WRONG_TYPE),
        (b'{"type":"artifact","kind":"video","path":"/etc/passwd"}', RejectKind.ARTIFACT_PATH),
        (b'{"type":"artifact","kind":"video","path":"../x.mp4"}', RejectKind.ARTIFACT_PATH),
        (b'{"event":"artifacts","video":"/etc/passwd"}', RejectKind.ARTIFACT_PATH),
        (b'{"type":"' + b"x" * 300 + b'"}', RejectKind.WRONG_TYPE),
        (as_line(step(0, obs=0)).replace(b'"obs":0', b'"obs":' + b"[1," * 200 + b"1" + b"]" * 200),
         RejectKind.NOT_JSON),
        (b'{"type":"episode","episode_id":"","steps":1,"return":1}', RejectKind.WRONG_TYPE),
        (b'{"type":"log","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}", RejectKind.NOT_JSON),
    ],
)  # fmt: skip
def test_a_rejected_line_is_counted_and_stored(
    spool: Spool, stored: Stored, line: bytes, kind: RejectKind
) -> None:
    """Ingest continues, and the line can be read with its offset and reason."""
    spool.write(step(0), line, step(1))
    reader = stored()
    (reject,) = reader.rejects()
    assert (reject.kind, reject.bytes) == (kind, len(line))
    assert spool.run.spool.read_bytes()[reject.offset :].startswith(line)
    assert reject.reason
    assert reader.stats().rejects_by_kind == {kind: 1}
    assert [record.step for record in reader.steps(0)] == [0, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": -1},
        {"step": 1.5},
        {"step": "1"},
        {"step": 1 << 63},
        {"reward": None},
        {"reward": "much"},
        {"reward": True},
        {"terminated": 0},
        {"episode_id": 7},
        {"episode_id": "x" * 257},
        {"actor": 3},
        {"t": "soon"},
    ],
)
def test_a_step_with_a_wrong_type_is_rejected(
    spool: Spool, stored: Stored, wrong: dict[str, object]
) -> None:
    """The reason names the field."""
    spool.write(step(0), {**step(1), **wrong})
    (reject,) = stored().rejects()
    assert reject.kind == RejectKind.WRONG_TYPE
    assert next(iter(wrong)) in reject.reason


def test_unknown_fields_and_types_are_stored(spool: Spool, stored: Stored) -> None:
    """They are stored unchanged and counted."""
    future = b'{"type":"vision","from":"tomorrow"}'
    spool.write(step(0, colour="blue"), future, future)
    reader = stored()
    assert [event.line for event in reader.events_after(-1, "vision")] == [future, future]
    assert b'"colour":"blue"' in reader.chunks_after("step", -1)[0].split()[0]
    assert reader.stats().unknown_types == {"vision": 2}
    assert reader.stats().rejects == 0


def test_the_number_of_type_counters_is_limited(spool: Spool, stored: Stored) -> None:
    """A worker that invents a type per line gets one shared counter."""
    spool.write(*({"type": f"made-up-{n}"} for n in range(1_500)))
    unknown = stored().stats().unknown_types
    assert sum(unknown.values()) == 1_500
    assert len(unknown) <= 1_001


def test_artifact_paths_are_made_relative(spool: Spool, stored: Stored, run: RunDirectory) -> None:
    """An absolute path inside the run directory is stored relative to it."""
    spool.write({"type": "artifact", "kind": "video", "path": f"{run.path}/videos/a.mp4", "x": 1})
    (event,) = stored().events_after(-1, "artifact")
    assert event.line == b'{"type":"artifact","kind":"video","path":"videos/a.mp4","x":1}'


def test_an_artifact_behind_an_outside_link_is_rejected(
    spool: Spool, stored: Stored, run: RunDirectory
) -> None:
    """A link in the run directory does not make its target an artifact."""
    (run.path / "videos").symlink_to("/etc")
    spool.write({"type": "artifact", "kind": "video", "path": "videos/passwd"})
    assert stored().stats().rejects_by_kind == {RejectKind.ARTIFACT_PATH: 1}


def test_the_older_artifacts_event_is_accepted(spool: Spool, stored: Stored) -> None:
    """Its line has `event` instead of `type`."""
    line = b'{"event":"artifacts","video":"v.mp4","tensorboard":"runs/x","wandb_url":null}'
    spool.write(line)
    assert [event.line for event in stored().events_after(-1, "artifacts")] == [line]


def test_an_empty_or_missing_spool_is_not_an_error(run: RunDirectory, spool: Spool) -> None:
    """The store is created without rows."""
    with TelemetryService(run) as service:
        assert service.finish()
        spool.write_raw(b"")
        assert service.finish()
    with TelemetryReader(run) as reader:
        assert reader.stats().lines == 0
        assert reader.episodes() == []
        assert reader.steps(0) == []
        assert reader.curve("loss").points == 0


def test_a_partial_last_line_is_not_ingested(run: RunDirectory, spool: Spool) -> None:
    """It is stored once, when it is complete."""
    line = b'{"type":"log","level":"info","code":"A1","message":"hi"}\n'
    with TelemetryService(run) as service, TelemetryService(run) as late:
        for end in range(1, len(line)):
            spool.write_raw(line[end - 1 : end])
            assert service.ingest() == 0
        spool.write_raw(b"\n")
        assert service.ingest() == len(line)
        assert late.ingest() == 0


def test_a_last_line_without_newline_is_stored_after_exit(spool: Spool, stored: Stored) -> None:
    """It must be a complete object."""
    spool.write_raw(b'{"type":"bye","outcome":"succeeded"}')
    reader = stored()
    assert reader.stats().types == {"bye": 1}
    assert reader.stats().committed_bytes == reader.stats().spool_bytes


def test_a_last_line_cut_off_by_a_kill_is_counted(spool: Spool, stored: Stored) -> None:
    """An incomplete object is not an event, but it is counted."""
    spool.write(step(0))
    spool.write_raw(b'{"type":"step","episode_id":"e0","ste')
    reader = stored()
    assert reader.stats().steps == 1
    assert reader.stats().rejects == 1


def test_long_lines_are_stored_up_to_the_limit(spool: Spool, stored: Stored) -> None:
    """100 KB and exactly 1 MiB are stored; one byte more is rejected."""
    overhead = len(b'{"type":"vision","x":""}')
    spool.write(step(0))
    spool.write({"type": "vision", "x": "a" * 100_000})
    spool.write({"type": "vision", "x": "b" * ((1 << 20) - overhead)})
    spool.write({"type": "vision", "x": "c" * ((1 << 20) - overhead + 1)})
    spool.write({"type": "vision", "x": "d" * (2 << 20)})
    spool.write(step(1))
    reader = stored()
    assert reader.stats().unknown_types == {"vision": 2}
    assert reader.stats().rejects_by_kind == {RejectKind.TOO_LONG: 2}
    assert reader.stats().steps == 2
    assert [len(reject.base64 or "") * 3 // 4 >= (1 << 20) for reject in reader.rejects()] == [
        True,
        True,
    ]


def test_an_unterminated_oversize_line_is_rejected(spool: Spool, stored: Stored) -> None:
    """It is at the end of the spool."""
    spool.write_raw(b"x" * (3 << 20))
    reader = stored()
    assert reader.stats().rejects_by_kind == {RejectKind.TOO_LONG: 1}
    assert reader.stats().committed_bytes == 3 << 20


def test_an_oversize_line_may_grow_slowly(run: RunDirectory, spool: Spool) -> None:
    """It is not read again from its start each time."""
    with TelemetryService(run) as service:
        for _ in range(5):
            spool.write_raw(b"y" * (1 << 20))
            assert service.ingest() == 0
        spool.write_raw(b"\n")
        assert service.ingest() == (5 << 20) + 1
        assert service.status().committed_bytes == (5 << 20) + 1


def test_blank_lines_are_skipped(spool: Spool, stored: Stored) -> None:
    """They are neither events nor rejects."""
    spool.write(b"", b"  ", b"\r", step(0))
    assert (stored().stats().blank, stored().stats().rejects) == (3, 0)


def test_windows_line_ends_are_accepted(spool: Spool, stored: Stored) -> None:
    """A carriage return before the newline is ignored."""
    spool.write_raw(b'{"type":"bye","outcome":"succeeded"}\r\n')
    assert stored().stats().types == {"bye": 1}


def test_a_restarted_service_resumes_at_the_offset(run: RunDirectory, spool: Spool) -> None:
    """Many short services store the same as one long one."""
    for n in range(1_200):
        spool.write(step(n, f"e{n % 3}"), {"type": "metric", "name": "m", "value": n, "step": n})
        if n % 37 == 0:
            with TelemetryService(run) as service:
                service.ingest()
    with TelemetryService(run) as service:
        assert service.finish()
    with TelemetryReader(run) as reader:
        assert [r.step for r in reader.steps(1)] == list(range(1, 1_200, 3))
        assert [s.step.step for s in reader.steps_after(-1)] == list(range(1_200))
        assert reader.curve("m").y == [float(n) for n in range(1_200)]
        assert reader.stats().duplicate_steps == 0


@pytest.mark.parametrize("number", [b"NaN", b"1e15"])
def test_a_line_that_grows_beyond_the_limit_when_it_is_rewritten(
    run: RunDirectory, spool: Spool, number: bytes
) -> None:
    """It is rejected, so that all other lines stay readable after a restart."""
    small = [step(n, obs="x" * 380) for n in range(501)]
    values = b",".join([b"NaN", *([number] * (1_000_000 // (len(number) + 1)))])
    grown = as_line(step(501))[:-1] + b',"obs":[' + values + b"]}"
    assert len(grown) <= MAX_LINE_BYTES
    spool.write(*small, grown, step(502))
    with TelemetryService(run) as service:
        assert service.finish()
    spool.write(step(503))
    with TelemetryService(run) as service:
        assert service.finish(), service.status()
    with TelemetryReader(run) as reader:
        stored = [line.step.step for line in reader.steps_after(-1)]
        assert reader.counts().rejects == 1
    assert stored == [*range(501), 502, 503]

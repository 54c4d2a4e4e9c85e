"""Every valid line of any spool is stored exactly once."""

import json
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Spool, as_line, step

texts = st.text(max_size=8).filter(lambda text: text not in {"NaN", "Infinity", "-Infinity"})
"""Without the texts that stand for numbers, which JSON does not have."""
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
steps = st.builds(
    lambda n, episode, obs, extra: (
        "step",
        json.dumps({**step(n, episode), "obs": obs, "extra": extra}).encode(),
    ),
    st.integers(0, 20),
    st.sampled_from(["a", "b", "ünï"]),
    json_values,
    json_values,
)
metrics = st.builds(
    lambda name, value, at: (
        "metric",
        json.dumps({"type": "metric", "name": name, "value": value, "step": at}).encode(),
    ),
    st.sampled_from(["loss", "return"]),
    st.floats() | st.integers(-5, 5),
    st.integers(0, 50),
)
unknown = st.builds(
    lambda more: (
        "other",
        as_line({"type": "from-the-future"})[:-1] + b',"x":' + json.dumps(more).encode() + b"}",
    ),
    json_values,
)
broken = st.builds(
    lambda line, cut: ("reject", line[1][: max(1, cut % len(line[1]))]),
    steps | metrics,
    st.integers(1, 10_000),
)
not_utf8 = st.just(("reject", b'{"type":"log","level":"\xc3\x28"}'))
binary = st.builds(
    lambda data: ("reject", b"\xff" + data.replace(b"\n", b"")), st.binary(max_size=30)
)
plain_text = st.sampled_from([("reject", b"Episode 3 done"), ("reject", b"[]"), ("reject", b"7")])
huge = st.builds(
    lambda more: ("reject", b'{"type":"log","x":"' + b"a" * ((1 << 20) + more) + b'"}'),
    st.integers(0, 3_000),
)
blank = st.sampled_from([("blank", b""), ("blank", b" \t\r")])
lines = st.lists(
    st.one_of(steps, steps, metrics, unknown, broken, not_utf8, binary, plain_text, blank),
    max_size=40,
)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
@given(st.data())
def test_every_valid_line_is_stored_exactly_once(data: st.DataObject) -> None:
    """Valid, broken, huge, binary and unknown lines, ingested in pieces by several services."""
    spooled = data.draw(lines)
    if data.draw(st.integers(0, 9)) == 0:
        spooled.insert(data.draw(st.integers(0, len(spooled))), data.draw(huge))
    raw = b"".join(line + b"\n" for _, line in spooled)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=4)))
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder) / new_ulid())
        run.path.mkdir()
        spool = Spool(run)
        for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
            spool.write_raw(raw[start:end])
            with TelemetryService(run) as service:
                service.ingest()
        with TelemetryService(run) as service:
            assert service.finish()
        expect_stored(run, spooled)


def expect_stored(run: RunDirectory, spooled: list[tuple[str, bytes]]) -> None:
    def of_kind(kind: str) -> list[bytes]:
        return [line for line_kind, line in spooled if line_kind == kind]

    with TelemetryReader(run) as reader:
        stats = reader.stats()
        stored_steps = reader.steps_after(-1)
        stored_metrics = reader.metrics_after(-1)
        events = reader.events_after(-1)
        rejects = list(reader.rejects())
    assert stats.lines == len(spooled)
    assert stats.blank == len(of_kind("blank"))
    assert [(s.step.episode_id, s.step.step) for s in stored_steps] == [
        (line["episode_id"], line["step"]) for line in map(json.loads, of_kind("step"))
    ]
    assert [repr(s.step.obs) for s in stored_steps] == [
        repr(json.loads(line)["obs"]) for line in of_kind("step")
    ]
    assert [repr(m.metric.value) for m in stored_metrics] == [
        repr(float(json.loads(line)["value"])) for line in of_kind("metric")
    ]
    assert len(events) == len(of_kind("other"))
    assert [reject.bytes for reject in rejects if reject.kind != "too_long"] == [
        len(line) for line in of_kind("reject") if len(line) <= 1 << 20
    ]
    assert stats.rejects == len(rejects) == len(of_kind("reject"))
    assert stats.committed_bytes == stats.spool_bytes

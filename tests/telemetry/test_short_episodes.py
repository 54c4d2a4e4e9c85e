"""Thousands of one-line episodes are stored the same in bulk as one by one."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.line_ingester import remove_columns
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Line, Spool, step

Stored = Callable[[], TelemetryReader]


def whole(number: int, name: str = "", steps: int = 6, **more: object) -> dict[str, object]:
    return {
        "type": "episode",
        "episode_id": name or f"ep{number}",
        "steps": steps,
        "return": 1,
        "episode": number,
        "terminated": True,
        "actions": [number % 4] * steps,
        "rewards": [0.5] * steps,
        **more,
    }


def rows(run: RunDirectory) -> dict[str, list[tuple[object, ...]]]:
    """All stored rows without revisions, which also count commits."""
    connection = sqlite3.connect(run.store)
    connection.row_factory = sqlite3.Row
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {
        table: [
            tuple(value for name, value in zip(row.keys(), row, strict=True) if name != "revision")
            for row in connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - our tables
        ]
        for (table,) in tables
    }
    connection.close()
    return found


MIXED: list[Line] = [
    *(whole(number) for number in range(200)),
    {"type": "episode_start", "episode_id": "begun", "episode": 200},
    step(0, "begun"),
    whole(200, "begun", first=1),
    whole(7, "ep7", first=6),  # continues after its end
    whole(9, "ep9"),  # the same steps again
    whole(11, "ep11", first=3),
    whole(50, "of a taken number"),
    whole(300, "ep20", first=6),  # another number than before
    whole(301, "twice at once"),
    whole(302, "twice at once", first=6),
    whole(301, "of a number that was let go"),
    whole(303, "without steps", steps=0),
    whole(304, agent_id="red", rewards=["NaN", 1, 2, 3, 4, 5]),
    b'{"type":"episode","episode_id":"unequal","steps":1,"return":0,"actions":[1],"rewards":[]}',
    *(whole(number, steps=4_000) for number in range(305, 370)),  # few of them fill a chunk
    *(whole(number) for number in range(370, 1_000)),
]


def test_bulk_and_single_commits_store_the_same(tmp_path: Path) -> None:
    """Many lines per commit, or one."""
    runs = [RunDirectory(tmp_path / name) for name in ("together", "one-by-one")]
    for run, at_once in zip(runs, (len(MIXED), 1), strict=True):
        run.path.mkdir()
        with TelemetryService(run) as service:
            for start in range(0, len(MIXED), at_once):
                Spool(run).write(*MIXED[start : start + at_once])
                while service.ingest():
                    pass
            assert service.finish()
    assert rows(runs[0]) == rows(runs[1])


def test_repeated_and_late_steps_are_noticed(spool: Spool, stored: Stored) -> None:
    """Also among thousands of normal ones."""
    spool.write(*MIXED)
    reader = stored()
    found = {episode.episode_id: episode for episode in reader.episodes(limit=2_000)}
    assert found["ep7"].steps == 12
    assert found["ep7"].duplicate_steps == 0
    assert found["ep9"].duplicate_steps == 6
    assert found["ep11"].duplicate_steps == 3
    assert sum(each.duplicate_steps for each in found.values()) == 9
    assert (found["ep20"].episode, found["twice at once"].episode) == (300, 302)
    assert found["of a number that was let go"].episode == 301
    assert found["of a taken number"].episode not in (50, None)
    assert [each.step for each in reader.steps(200)] == list(range(7))
    assert (reader.stats().rejects, reader.stats().episodes) == (1, len(found))


def test_an_episode_is_known_again_in_a_later_commit(
    spool: Spool, stored: Stored, ingest: Callable[[], None]
) -> None:
    """Episodes that are written twice are not stored as new ones."""
    spool.write(*(whole(number) for number in range(100)))
    ingest()
    spool.write(*(whole(number, first=6) for number in range(150)))
    reader = stored()
    assert reader.stats().episodes == 150
    assert [each.steps for each in reader.episodes(limit=200)] == [12] * 100 + [6] * 50


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b'{"type":"episode","x":1,"actions":[1,-2.5],"rewards":[0,1]}', {"x": 1}),
        (b'{"type": "episode", "actions": [1], "rewards": [0], "x": 1}', {"x": 1}),
        (b'{"type":"episode","x":1,"actions":[[1,{"a":"]}"}]],"rewards":["NaN"]}', {"x": 1}),
        (b'{"type":"episode","first":3,"x":1,"actions":[1],"rewards":[0]}', {"x": 1}),
        (b'{"type":"episode","actions":[7,8],"x":1,"actions":[1],"rewards":[0]}', {"x": 1}),
        (b'{"type":"episode","\\u0061ctions":[7],"x":1,"actions":[1],"rewards":[0]}', {"x": 1}),
        (
            b'{"type":"episode","actions":[1],"rewards":[0],"x":{"a":1,"actions":[1],"rewards":[0]}}',
            {"x": {"a": 1, "actions": [1], "rewards": [0]}},
        ),
        (
            b'{"type":"episode","x":"\\",\\"actions\\":[","actions":[1],"rewards":[0]}',
            {"x": '","actions":['},
        ),
        (b'{"type":"episode","rewards":[0],"x":1,"actions":[1]}', {"x": 1}),
    ],
)
def test_the_row_of_an_end_has_no_columns(line: bytes, kept: dict[str, object]) -> None:
    """In any position and format; all other fields stay."""
    assert msgspec.json.decode(remove_columns(line)) == {"type": "episode", **kept}

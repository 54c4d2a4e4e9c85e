"""Thousands of one-line episodes are stored identically in bulk and one by one."""

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


def complete_episode(
    number: int, name: str = "", steps: int = 6, **more: object
) -> dict[str, object]:
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
    """Return all stored rows without revisions, which depend on the number of commits."""
    connection = sqlite3.connect(run.store)
    connection.row_factory = sqlite3.Row
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    rows_by_table = {
        table: [
            tuple(value for name, value in zip(row.keys(), row, strict=True) if name != "revision")
            for row in connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - our tables
        ]
        for (table,) in tables
    }
    connection.close()
    return rows_by_table


MIXED: list[Line] = [
    *(complete_episode(number) for number in range(200)),
    {"type": "episode_start", "episode_id": "started", "episode": 200},
    step(0, "started"),
    complete_episode(200, "started", first=1),
    complete_episode(7, "ep7", first=6),  # continues after its end
    complete_episode(9, "ep9"),  # the same steps again
    complete_episode(11, "ep11", first=3),
    complete_episode(50, "with a used number"),
    complete_episode(300, "ep20", first=6),  # another number than before
    complete_episode(301, "twice in one commit"),
    complete_episode(302, "twice in one commit", first=6),
    complete_episode(301, "with a released number"),
    complete_episode(303, "without steps", steps=0),
    complete_episode(304, agent_id="red", rewards=["NaN", 1, 2, 3, 4, 5]),
    b'{"type":"episode","episode_id":"unequal","steps":1,"return":0,"actions":[1],"rewards":[]}',
    *(
        complete_episode(number, steps=4_000) for number in range(305, 370)
    ),  # few of them fill a chunk
    *(complete_episode(number) for number in range(370, 1_000)),
]


def test_bulk_and_single_commits_store_the_same(tmp_path: Path) -> None:
    """All lines in one commit, or one line per commit."""
    runs = [RunDirectory(tmp_path / name) for name in ("bulk", "single")]
    for run, lines_per_commit in zip(runs, (len(MIXED), 1), strict=True):
        run.path.mkdir()
        with TelemetryService(run) as service:
            for start in range(0, len(MIXED), lines_per_commit):
                Spool(run).write(*MIXED[start : start + lines_per_commit])
                while service.ingest():
                    pass
            assert service.finish()
    assert rows(runs[0]) == rows(runs[1])


def test_duplicate_steps_are_counted(spool: Spool, stored: Stored) -> None:
    """They are among thousands of ordinary episodes."""
    spool.write(*MIXED)
    reader = stored()
    episodes = {episode.episode_id: episode for episode in reader.episodes(limit=2_000)}
    assert episodes["ep7"].steps == 12
    assert episodes["ep7"].duplicate_steps == 0
    assert episodes["ep9"].duplicate_steps == 6
    assert episodes["ep11"].duplicate_steps == 3
    assert sum(episode.duplicate_steps for episode in episodes.values()) == 9
    assert (episodes["ep20"].episode, episodes["twice in one commit"].episode) == (300, 302)
    assert episodes["with a released number"].episode == 301
    assert episodes["with a used number"].episode not in (50, None)
    assert [record.step for record in reader.steps(200)] == list(range(7))
    assert (reader.stats().rejects, reader.stats().episodes) == (1, len(episodes))


def test_an_episode_is_recognised_in_a_later_commit(
    spool: Spool, stored: Stored, ingest: Callable[[], None]
) -> None:
    """Episodes that are written twice are not stored as new ones."""
    spool.write(*(complete_episode(number) for number in range(100)))
    ingest()
    spool.write(*(complete_episode(number, first=6) for number in range(150)))
    reader = stored()
    assert reader.stats().episodes == 150
    assert [episode.steps for episode in reader.episodes(limit=200)] == [12] * 100 + [6] * 50


@pytest.mark.parametrize(
    ("line", "other_fields"),
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
def test_the_row_of_an_end_has_no_columns(line: bytes, other_fields: dict[str, object]) -> None:
    """They are removed in any position and format; all other fields stay."""
    assert msgspec.json.decode(remove_columns(line)) == {"type": "episode", **other_fields}

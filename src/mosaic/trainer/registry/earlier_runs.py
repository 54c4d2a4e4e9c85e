"""What earlier runs of a kind took: preflight's ground for what to expect of the next one."""

import sqlite3

import msgspec

_SELECT = """
    SELECT max(ended_at - started_at - paused_s, 0.0), sps, rss_bytes, steps
    FROM run CROSS JOIN run_digest ON run_digest.run = key
    WHERE worker = ? AND algo = ? AND env_id = ? AND state = 'succeeded'
        -- A clock that was set back in between says nothing of the duration.
        AND started_at <= ended_at
    ORDER BY key DESC LIMIT ?
"""


class EarlierRun(msgspec.Struct, kw_only=True, frozen=True):
    """A run that succeeded."""

    duration_s: float
    """Without the time in which it was paused."""
    sps: float | None
    rss_bytes: int | None
    steps: int


def fetch_earlier_runs(
    connection: sqlite3.Connection, worker: str, algo: str, env_id: str, limit: int
) -> list[EarlierRun]:
    """Newest first."""
    rows = connection.execute(_SELECT, (worker, algo, env_id, limit))
    return [
        EarlierRun(
            duration_s=duration_s,
            sps=None if isinstance(sps, str) else sps,  # NaN is no expectation
            rss_bytes=rss_bytes,
            steps=steps,
        )
        for duration_s, sps, rss_bytes, steps in rows
    ]

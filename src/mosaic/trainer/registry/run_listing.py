"""Lists of runs: filtered, newest first, page by page, with their total.

The order is that in which runs were added, not that of the clock, so that page boundaries stay
stable if runs are added, deleted or changed while a client reads the pages.
"""

import base64
import binascii
import hashlib
import sqlite3
from typing import Any, NamedTuple

import msgspec

from mosaic.contract.runs import RunPage, RunQuery
from mosaic.trainer.registry.errors import PageTokenError
from mosaic.trainer.registry.event_log import last_event_seq
from mosaic.trainer.registry.run_rows import as_json_list, fetch_records, fold_case
from mosaic.trainer.registry.text_rules import storable

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1_000

_KEY_BYTES = 8
_CHECK_BYTES = 7  # with the key a multiple of three: base64 without padding
_TOKEN_LENGTH = (_KEY_BYTES + _CHECK_BYTES) * 4 // 3
_MAX_SEARCH_LENGTH = 10_000


class _Filter(NamedTuple):
    """A condition in SQL, and its parameters."""

    sql: str
    parameters: tuple[Any, ...]


def fetch_page(connection: sqlite3.Connection, query: RunQuery) -> RunPage:
    """One page, from a single state of the registry. Raises `PageTokenError`."""
    size = page_size(query)
    filtered = _filter(query)
    page = filtered
    if query.page_token:
        page = _Filter(f"{filtered.sql} AND key < ?", (*filtered.parameters, _key_in_token(query)))
    records = fetch_records(
        connection,
        f"WHERE {page.sql} ORDER BY key DESC LIMIT ?",
        (*page.parameters, size + 1),
    )
    (total,) = connection.execute(
        f"SELECT count(*) FROM run WHERE {filtered.sql}",  # noqa: S608 - built from the constants below
        filtered.parameters,
    ).fetchone()
    return RunPage(
        runs=tuple(record for _, record in records[:size]),
        next_page_token=_token(query, records[size - 1][0]) if len(records) > size else "",
        total=total,
        last_event_seq=last_event_seq(connection),
    )


def page_size(query: RunQuery) -> int:
    if query.page_size <= 0:
        return DEFAULT_PAGE_SIZE
    return min(query.page_size, MAX_PAGE_SIZE)


def _filter(query: RunQuery) -> _Filter:
    filters = [] if query.include_archived else [_Filter("archived = 0", ())]
    if query.states:
        filters.append(
            _Filter(
                "state IN (SELECT value FROM json_each(?))",
                (as_json_list([str(state) for state in query.states]),),
            )
        )
    for column, value in (
        ("worker", query.worker),
        ("algo", query.algo),
        ("env_id", query.env_id),
        ("parent_run", query.parent_run),
    ):
        if value:
            filters.append(_Filter(f"{column} = ?", (storable(value),)))
    if query.tag:
        filters.append(
            _Filter("key IN (SELECT run FROM run_tag WHERE tag = ?)", (storable(query.tag),))
        )
    if query.text:
        # Not LIKE: it has wildcards to escape, and folds the case of ASCII only.
        text = storable(query.text, _MAX_SEARCH_LENGTH)
        filters.append(_Filter("instr(searched, ?) > 0", (fold_case(text),)))
    return _Filter(
        " AND ".join(each.sql for each in filters) or "true",
        tuple(parameter for each in filters for parameter in each.parameters),
    )


def _token(query: RunQuery, key: int) -> str:
    """The end of a page, with a check that ties it to the filters: another list has other rows."""
    position = key.to_bytes(_KEY_BYTES, "big")
    return base64.urlsafe_b64encode(position + _check(query, position)).decode()


def _key_in_token(query: RunQuery) -> int:
    token = query.page_token
    if len(token) != _TOKEN_LENGTH:
        raise PageTokenError
    try:
        data = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise PageTokenError from None
    position = data[:_KEY_BYTES]
    if data[_KEY_BYTES:] != _check(query, position):
        raise PageTokenError
    return int.from_bytes(position, "big")


def _check(query: RunQuery, position: bytes) -> bytes:
    filters = msgspec.structs.replace(query, page_size=0, page_token="")
    return hashlib.blake2s(
        msgspec.msgpack.encode(filters) + position, digest_size=_CHECK_BYTES
    ).digest()

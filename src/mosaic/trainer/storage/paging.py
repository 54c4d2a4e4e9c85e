"""Pages of items from runs and from the home, newest first, and the ids of artifacts."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import msgspec

from mosaic.contract.layout import Home
from mosaic.trainer.registry.artifact_rows import ArtifactPosition, ArtifactRecord
from mosaic.trainer.storage.errors import StoragePageTokenError

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1_000

_CHECK_BYTES = 9
_HASH_LETTERS = 12


class ListItem(Protocol):
    """What every item of such a list has. `path` is relative to the home."""

    @property
    def t(self) -> float: ...
    @property
    def run_id(self) -> str: ...
    @property
    def path(self) -> str: ...


Item = TypeVar("Item", bound=ListItem)
OfRuns = Callable[[ArtifactPosition | None, int], Iterable[Item]]
"""Items of runs after a position, newest first, up to a limit."""


def artifact_id(run_id: str, path: str) -> str:
    """The id of a run's artifact; stable as long as it has this path."""
    return f"{run_id}.{hashlib.sha256(path.encode()).hexdigest()[:_HASH_LETTERS]}"


def path_in_home(home: Home, row: ArtifactRecord) -> str:
    """The path of a run's artifact, relative to the home."""
    return f"{home.relative(home.run(row.run_id).path)}/{row.path}"


def page_of(
    home: Home,
    of_runs: OfRuns[Item],
    of_home: Iterable[Item],
    page_size: int,
    scope: bytes,
    token: str,
) -> tuple[tuple[Item, ...], str]:
    """A page and the token of the next one; `scope` identifies the list.

    Raises `StoragePageTokenError`.
    """
    size = min(page_size, MAX_PAGE_SIZE) if page_size > 0 else DEFAULT_PAGE_SIZE
    before = _decode_token(token, scope) if token else None
    items = [item for item in of_home if before is None or _position(item) < before]
    items += of_runs(_within_run(home, before) if before else None, size + 1)
    items.sort(key=_position, reverse=True)
    page = tuple(items[:size])
    return page, _encode_token(_position(page[-1]), scope) if len(items) > size else ""


def _position(item: ListItem) -> ArtifactPosition:
    return ArtifactPosition(item.t, item.run_id, item.path)


def _within_run(home: Home, position: ArtifactPosition) -> ArtifactPosition:
    """With the path as in the registry: relative to the run's directory."""
    if not position.run_id:
        return position
    directory = home.relative(home.run(position.run_id).path)
    return position._replace(path=position.path.removeprefix(f"{directory}/"))


def _encode_token(position: ArtifactPosition, scope: bytes) -> str:
    encoded = msgspec.msgpack.encode(position)
    return base64.urlsafe_b64encode(_check(encoded, scope) + encoded).decode()


def _decode_token(token: str, scope: bytes) -> ArtifactPosition:
    try:
        data = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
        check, encoded = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
        if check != _check(encoded, scope):
            raise StoragePageTokenError
        return msgspec.msgpack.decode(encoded, type=ArtifactPosition)
    except (ValueError, msgspec.MsgspecError):
        raise StoragePageTokenError from None


def _check(encoded: bytes, scope: bytes) -> bytes:
    """Ties a position to the filters: another list has other items."""
    return hashlib.blake2s(
        len(scope).to_bytes(8, "big") + scope + encoded, digest_size=_CHECK_BYTES
    ).digest()

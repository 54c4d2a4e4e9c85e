"""Pages of what lies partly in runs and partly in the home, newest first, and the ids of both."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import msgspec

from mosaic.contract.layout import Home
from mosaic.trainer.registry.artifact_rows import ArtifactPlace, ArtifactRow
from mosaic.trainer.storage.errors import StoragePageTokenError

DEFAULT_PAGE_SIZE = 50
LARGEST_PAGE_SIZE = 1_000

_CHECK_BYTES = 9
_HASH_LETTERS = 12


class Listed(Protocol):
    """What every entry of such a list has. `path` is relative to the home."""

    @property
    def t(self) -> float: ...
    @property
    def run_id(self) -> str: ...
    @property
    def path(self) -> str: ...


Item = TypeVar("Item", bound=Listed)
OfRuns = Callable[[ArtifactPlace | None, int], Iterable[Item]]
"""Those of runs that come after a place, newest first, at most so many."""


def artifact_id(run_id: str, path: str) -> str:
    """The id of a run's artifact; the same for as long as it lies at this path."""
    return f"{run_id}.{hashlib.sha256(path.encode()).hexdigest()[:_HASH_LETTERS]}"


def path_in_home(home: Home, row: ArtifactRow) -> str:
    """Of a run's artifact, relative to the home."""
    return f"{home.relative(home.run(row.run_id).path)}/{row.path}"


def page_of(
    home: Home,
    of_runs: OfRuns[Item],
    of_home: Iterable[Item],
    page_size: int,
    scope: bytes,
    token: str,
) -> tuple[tuple[Item, ...], str]:
    """A page and the token of the next one; `scope` is what all pages of one list have in common.

    Raises `StoragePageTokenError`.
    """
    size = min(page_size, LARGEST_PAGE_SIZE) if page_size > 0 else DEFAULT_PAGE_SIZE
    before = _place_in(token, scope) if token else None
    found = [item for item in of_home if before is None or _place(item) < before]
    found += of_runs(_within_run(home, before) if before else None, size + 1)
    found.sort(key=_place, reverse=True)
    page = tuple(found[:size])
    return page, _token(_place(page[-1]), scope) if len(found) > size else ""


def _place(item: Listed) -> ArtifactPlace:
    return ArtifactPlace(item.t, item.run_id, item.path)


def _within_run(home: Home, place: ArtifactPlace) -> ArtifactPlace:
    """With the path as the registry has it: relative to the run's directory."""
    if not place.run_id:
        return place
    directory = home.relative(home.run(place.run_id).path)
    return place._replace(path=place.path.removeprefix(f"{directory}/"))


def _token(place: ArtifactPlace, scope: bytes) -> str:
    encoded = msgspec.msgpack.encode(place)
    return base64.urlsafe_b64encode(_check(encoded, scope) + encoded).decode()


def _place_in(token: str, scope: bytes) -> ArtifactPlace:
    try:
        data = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
        check, encoded = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
        if check != _check(encoded, scope):
            raise StoragePageTokenError
        return msgspec.msgpack.decode(encoded, type=ArtifactPlace)
    except (ValueError, msgspec.MsgspecError):
        raise StoragePageTokenError from None


def _check(encoded: bytes, scope: bytes) -> bytes:
    """Ties a place to the filters: another list has other entries."""
    return hashlib.blake2s(
        len(scope).to_bytes(8, "big") + scope + encoded, digest_size=_CHECK_BYTES
    ).digest()

"""The model loses what a disk may lose, and nothing else."""

import random
from collections.abc import Sequence

from tests.hostile.power_cut.disk_model import Disk, Tree, at_random, in_order, states
from tests.hostile.power_cut.recording import Kind, Operation

_BLOCK = 4096
_CREATE = Operation(Kind.CREATE, "file", file=1)
_SYNC = Operation(Kind.SYNC_FILE, file=1)


def _write(offset: int, data: bytes) -> Operation:
    return Operation(Kind.WRITE, file=1, offset=offset, data=data)


def _possible(*operations: Operation) -> list[Tree]:
    """All different states after the operations."""
    disk = Disk()
    for operation in operations:
        disk.apply(operation)
    found: list[Tree] = []
    chance = random.Random(0)
    for _ in range(300):
        tree = disk.tree(at_random(chance))
        if tree not in found:
            found.append(tree)
    return found


def _contents(trees: Sequence[Tree]) -> set[bytes]:
    return {content for tree in trees if (content := tree.get("file")) is not None}


def test_synced_data_is_never_lost() -> None:
    """A sync of the file makes its creation durable too."""
    assert _possible(_CREATE, _write(0, b"one"), _SYNC) == [{"file": b"one"}]


def test_unsynced_blocks_are_lost_in_any_combination() -> None:
    """A lost block below the size of the file has zeros."""
    trees = _possible(_CREATE, _SYNC, _write(0, b"a" * _BLOCK), _write(_BLOCK, b"b" * _BLOCK))
    zeros = b"\0" * _BLOCK
    sizes = {
        first + second for first in (b"a" * _BLOCK, zeros) for second in (b"b" * _BLOCK, zeros)
    }
    assert _contents(trees) == sizes | {b"", b"a" * _BLOCK, zeros}


def test_writes_to_one_block_keep_their_order() -> None:
    """The later one is not on disk without the earlier one."""
    trees = _possible(_CREATE, _write(0, b"...."), _SYNC, _write(0, b"12"), _write(2, b"34"))
    assert _contents(trees) == {b"....", b"12..", b"1234"}


def test_a_truncation_and_what_follows_it() -> None:
    """Data that was written after a truncation is not on disk without it."""
    truncation = Operation(Kind.TRUNCATE, file=1, offset=0)
    trees = _possible(_CREATE, _write(0, b"old"), _SYNC, truncation, _write(0, b"n"))
    assert _contents(trees) == {b"old", b"", b"n", b"\0"}


def test_a_rename_is_durable_with_its_folder() -> None:
    """Before that the file has its old name or its new one, and no other."""
    rename = Operation(Kind.RENAME, "file", "renamed")
    before = _possible(_CREATE, _write(0, b"one"), _SYNC, rename)
    assert sorted(map(list, before)) == [["file"], ["renamed"]]
    after = _possible(_CREATE, _SYNC, rename, Operation(Kind.SYNC_FOLDER, "."))
    assert after == [{"renamed": b""}]


def test_names_keep_their_order() -> None:
    """A later name is not on disk without the earlier ones; `sync` makes all of them durable."""
    other = Operation(Kind.CREATE, "folder/other", file=2)
    names = (_CREATE, Operation(Kind.MAKE_FOLDER, "folder"), other)
    found = sorted(map(sorted, _possible(*names)))
    assert found == [[], ["file"], ["file", "folder"], ["file", "folder", "folder/other"]]
    assert len(_possible(*names, Operation(Kind.SYNC_ALL))) == 1


def test_states_in_order_are_those_of_a_time() -> None:
    """They include the first and the last one."""
    operations = [_CREATE, _write(0, b"1"), _write(1, b"2")]
    disk = Disk()
    for operation in operations:
        disk.apply(operation)
    contents = [disk.tree(in_order(time)).get("file") for time in range(4)]
    assert contents == [None, b"", b"1", b"12"]
    found = list(states(operations, random.Random(0), cuts=3, variants=2))
    assert {state.position for state in found} == {1, 2, 3}
    assert {} in [state.tree for state in found if state.position == 3]
    assert {"file": b"12"} in [state.tree for state in found if state.is_ordered]

"""What a disk may contain after a power failure, from a recording of all changes to a directory.

The model is that of a page cache above a journaling file system, such as ext4 or XFS:

- A file consists of blocks of 4 KiB. After a power failure, a block has the content that it had at
  some time between the last sync of its file and the failure. Each block has its own time, so later
  writes may be on disk while earlier ones are lost.
- The size of a file is from a time between its last sync and the failure too, independent of its
  blocks: a file may have grown without its data. Such a block has zeros.
- A truncation that is on disk has removed the data of earlier writes. Data that was written after a
  truncation is lost if the truncation is.
- fsync and fdatasync of a file make its data and its size durable, and its creation with everything
  that was created, renamed or removed before it.
- Creation, renaming and removal of names are durable in their order: a prefix of them is on disk.
  fsync of a folder makes the folder and the changes of its names durable, and thus all earlier
  changes. A prefix longer than that may be on disk.
- sync makes everything durable.

Assumptions: a block is written completely or not at all, and a sync that returned was executed by
the disk. Changes of names in two folders keep their order, which POSIX does not promise but a
journal does. File modes and times, FIFOs and links are not part of the model.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar, assert_never

from tests.hostile.power_cut.recording import Kind, Operation

_BLOCK_BYTES = 4096
_FOLDER = -1
_Value = TypeVar("_Value")

Time = int
"""A number of operations: the state after that many of them."""
Choose = Callable[[Time, Time], Time]
"""Returns a time between two times, both included."""
Tree = dict[str, bytes | None]
"""The files by their paths, with their content; None for a folder."""


class Choices(NamedTuple):
    """How the times of one state are chosen, each between the last sync and the failure."""

    names: Choose
    size: Choose
    block: Choose


def _earliest(first: Time, _last: Time) -> Time:
    return first


def _latest(_first: Time, last: Time) -> Time:
    return last


_OUT_OF_ORDER = {
    "names without data": Choices(_latest, _earliest, _earliest),
    "names and sizes without data": Choices(_latest, _latest, _earliest),
    "data without names": Choices(_earliest, _latest, _latest),
}


def in_order(time: Time) -> Choices:
    """Everything until `time`, and nothing after it except what was synced."""

    def choose(first: Time, last: Time) -> Time:
        return min(max(first, time), last)

    return Choices(choose, choose, choose)


def at_random(chance: random.Random) -> Choices:
    """Each block and size at its own time, most often the first or the last possible one."""

    def choose(first: Time, last: Time) -> Time:
        return chance.choice((first, last, chance.randint(first, last)))

    return Choices(choose, choose, choose)


class _File:
    """The history of a file's blocks and size, since its last sync."""

    def __init__(self, time: Time) -> None:
        self._blocks: dict[int, list[tuple[Time, bytes]]] = {}
        self._sizes: list[tuple[Time, int]] = [(time, 0)]
        self._truncations: list[tuple[Time, int]] = []
        self._synced = time

    def write(self, time: Time, offset: int, data: bytes) -> None:
        end = offset + len(data)
        for number in range(offset // _BLOCK_BYTES, -(-end // _BLOCK_BYTES)):
            start = number * _BLOCK_BYTES
            content = self._latest_block(number).ljust(_BLOCK_BYTES, b"\0")
            first, last = max(offset - start, 0), min(end - start, _BLOCK_BYTES)
            piece = data[start + first - offset : start + last - offset]
            self._add_block(time, number, content[:first] + piece + content[last:])
        self._sizes.append((time, max(end, self._sizes[-1][1])))

    def truncate(self, time: Time, size: int) -> None:
        if size < self._sizes[-1][1]:
            self._truncations.append((time, size))
        for number in self._blocks:
            kept = max(size - number * _BLOCK_BYTES, 0)
            if kept < _BLOCK_BYTES:
                self._add_block(time, number, self._latest_block(number)[:kept])
        self._sizes.append((time, size))

    def sync(self, time: Time) -> None:
        """Forget what cannot be on disk any more."""
        self._synced = time
        self._blocks = {number: versions[-1:] for number, versions in self._blocks.items()}
        self._sizes = self._sizes[-1:]
        self._truncations.clear()

    def content(self, now: Time, choices: Choices) -> bytes:
        """Return what may be on disk after a power failure at the time `now`."""
        size_time = choices.size(self._synced, now)
        size = _at(self._sizes, size_time, 0)
        data = bytearray(size)
        for number, versions in self._blocks.items():
            start = number * _BLOCK_BYTES
            if start < size:
                first, last = self._possible_times(start, size_time, now)
                block = _at(versions, choices.block(first, last), b"")[: size - start]
                data[start : start + len(block)] = block
        return bytes(data)

    def _possible_times(self, start: int, size_time: Time, now: Time) -> tuple[Time, Time]:
        first, last = self._synced, now
        for time, size in self._truncations:
            if size < start + _BLOCK_BYTES:
                if time <= size_time:
                    first = max(first, time)
                else:
                    last = min(last, time - 1)
        return first, max(first, last)

    def _latest_block(self, number: int) -> bytes:
        versions = self._blocks.get(number)
        return versions[-1][1] if versions else b""

    def _add_block(self, time: Time, number: int, content: bytes) -> None:
        self._blocks.setdefault(number, []).append((time, content))


def _at(versions: list[tuple[Time, _Value]], time: Time, missing: _Value) -> _Value:
    """Return the last version that is not newer than `time`."""
    for changed, value in reversed(versions):
        if changed <= time:
            return value
    return missing


class Disk:
    """Applies recorded operations one by one, and builds what may be on disk at that time."""

    def __init__(self) -> None:
        self._now: Time = 0
        self._files: dict[int, _File] = {}
        self._file_numbers: dict[int, int] = {}  # by inode number, which may be used again
        self._created: dict[int, Time] = {}
        self._name_changes: list[tuple[Time, Operation, int]] = []
        self._durable_names: Time = 0

    @property
    def now(self) -> Time:
        """How many operations were applied."""
        return self._now

    def apply(self, operation: Operation) -> None:
        self._now += 1
        match operation.kind:
            case Kind.WRITE:
                self._file(operation).write(self._now, operation.offset, operation.data)
            case Kind.TRUNCATE:
                self._file(operation).truncate(self._now, operation.offset)
            case Kind.SYNC_FILE:
                self._file(operation).sync(self._now)
                self._make_names_durable(self._created[self._file_numbers[operation.file]])
            case Kind.SYNC_FOLDER:
                self._make_names_durable(self._last_change_in(operation.path))
            case Kind.SYNC_ALL:
                for file in self._files.values():
                    file.sync(self._now)
                self._make_names_durable(self._now)
            case Kind.CREATE:
                number = len(self._files)
                self._file_numbers[operation.file] = number
                self._files[number] = _File(self._now)
                self._created[number] = self._now
                self._name_changes.append((self._now, operation, number))
            case Kind.RENAME | Kind.UNLINK | Kind.MAKE_FOLDER | Kind.REMOVE_FOLDER | Kind.LINK:
                self._name_changes.append((self._now, operation, _FOLDER))
            case Kind.MARK:
                pass
            case _:
                assert_never(operation.kind)

    def tree(self, choices: Choices) -> Tree:
        """Return what may be on disk if the power fails now."""
        time = choices.names(self._durable_names, self._now)
        contents: dict[int, bytes] = {}
        tree: Tree = {}
        for path, number in sorted(self._names(time).items()):
            if number == _FOLDER:
                tree[path] = None
                continue
            if number not in contents:
                contents[number] = self._files[number].content(self._now, choices)
            tree[path] = contents[number]
        return tree

    def _file(self, operation: Operation) -> _File:
        return self._files[self._file_numbers[operation.file]]

    def _make_names_durable(self, time: Time) -> None:
        self._durable_names = max(self._durable_names, time)

    def _last_change_in(self, folder: str) -> Time:
        for time, change, _ in reversed(self._name_changes):
            parents = {str(PurePosixPath(name).parent) for name in (change.path, change.target)}
            if folder in parents or folder in (change.path, change.target):
                return time
        return 0

    def _names(self, time: Time) -> dict[str, int]:
        names: dict[str, int] = {}
        for changed, change, number in self._name_changes:
            if changed > time:
                break
            match change.kind:
                case Kind.CREATE | Kind.MAKE_FOLDER:
                    names[change.path] = number
                case Kind.LINK:
                    names[change.target] = names[change.path]
                case Kind.RENAME:
                    _rename(names, change.path, change.target)
                case _:
                    names.pop(change.path, None)  # a FIFO is not recorded
        return names


def _rename(names: dict[str, int], old: str, new: str) -> None:
    moved = [path for path in names if path == old or path.startswith(f"{old}/")]
    for path in moved:
        names[new + path.removeprefix(old)] = names.pop(path)


class State(NamedTuple):
    """What may be on disk after a power failure."""

    position: int
    """How many operations were executed before the failure."""
    variant: str
    tree: Tree
    is_ordered: bool
    """Whether all changes after one time are lost, except for synced ones, and none before it."""

    def build(self, folder: Path) -> None:
        """Write the files to a folder, which must not exist."""
        folder.mkdir(parents=True)
        for path, content in self.tree.items():
            target = folder / path
            if content is None:
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)


def states(
    operations: list[Operation], chance: random.Random, *, cuts: int, variants: int
) -> Iterator[State]:
    """States after a power failure at `cuts` positions, the last one included.

    Each position has the extremes, `variants` states in order and as many at random. Equal states
    of a position are checked once.
    """
    positions = set(chance.sample(range(1, len(operations)), min(cuts, len(operations)) - 1))
    positions.add(len(operations))
    disk = Disk()
    for operation in operations:
        disk.apply(operation)
        if disk.now not in positions:
            continue
        times = {0, disk.now, *(chance.randint(1, disk.now) for _ in range(variants))}
        choices = {f"in order until {time}": in_order(time) for time in sorted(times)}
        ordered = set(choices)
        choices |= _OUT_OF_ORDER
        choices |= {f"random {number}": at_random(chance) for number in range(variants)}
        seen: list[Tree] = []
        for variant, choice in choices.items():
            tree = disk.tree(choice)
            if tree not in seen:
                seen.append(tree)
                yield State(disk.now, variant, tree, variant in ordered)

"""The recorder, and the check of a scenario in all of its states."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.power_cut.disk_model import Disk, State, in_order, states
from tests.hostile.power_cut.recording import Recorder, Recording

Check = Callable[[Path, State], None]
CheckStates = Callable[[Recording, random.Random, Check], None]

_CUTS, _VARIANTS = 16, 3
_MANY_CUTS, _MANY_VARIANTS = 40, 8


@pytest.fixture(scope="package")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """Records programs. Needs a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc, a C compiler, is not installed: writes cannot be recorded")
    return Recorder(compiler, tmp_path_factory.mktemp("power_cut"))


@pytest.fixture
def check_states(
    request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> CheckStates:
    """Checks that a recording is complete, then each state in its own folder."""
    is_repetition = request.node.get_closest_marker("repetition") is not None
    cuts, variants = (_MANY_CUTS, _MANY_VARIANTS) if is_repetition else (_CUTS, _VARIANTS)

    def check_all(recording: Recording, chance: random.Random, check: Check) -> None:
        _require_complete(recording)
        count = 0
        for count, state in enumerate(
            states(recording.operations, chance, cuts=cuts, variants=variants), 1
        ):
            folder = tmp_path / f"state-{count}"
            state.build(folder)
            try:
                check(folder, state)
            except BaseException as error:
                error.add_note(
                    f"Power failure after operation {state.position} of"
                    f" {len(recording.operations)}, variant {state.variant!r}: {folder}"
                )
                raise
            shutil.rmtree(folder)
        record_property("power_cut_states", count)

    return check_all


def _require_complete(recording: Recording) -> None:
    """All operations together result in the directory that the program left."""
    disk = Disk()
    for operation in recording.operations:
        disk.apply(operation)
    left = {
        str(path.relative_to(recording.root)): None if path.is_dir() else path.read_bytes()
        for path in recording.root.rglob("*")
        if path.is_dir() or path.is_file()
    }
    assert disk.tree(in_order(disk.now)) == left

"""Which of the waiting runs may start."""

from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.run_config import ResourcesConfig
from mosaic.trainer.runs.admission import Capacity, Grant, Waiting, admit, shortfall

CAPACITY = Capacity(runs=3, cpus=4, memory_mb=1000, gpus=(0, 1))


def _needs(cpus: int = 1, gpus: int = 0, memory_mb: int | None = None) -> ResourcesConfig:
    return ResourcesConfig(cpus=cpus, gpus=gpus, memory_mb=memory_mb)


def test_the_most_urgent_start_first() -> None:
    """As many start as fit, in the order given."""
    waiting = [Waiting(name, _needs(cpus=2)) for name in "abc"]
    admission = admit(waiting, {}, CAPACITY)
    assert list(admission.granted) == ["a", "b"]
    assert admission.waits == {"c": "it requests 2 CPUs, and 0 of 4 are free"}


def test_a_large_run_is_not_delayed_indefinitely() -> None:
    """What a waiting run needs is kept for it, however many small ones come after it."""
    waiting = [Waiting("large", _needs(cpus=4)), Waiting("small", _needs())]
    admission = admit(waiting, {"going": Grant(1, 0)}, CAPACITY)
    assert not admission.granted


def test_a_small_run_may_pass_one_that_waits_for_something_else() -> None:
    """A run that waits for a GPU does not hold up one that wants none."""
    busy = {"going": Grant(1, 0, (0, 1))}
    waiting = [Waiting("gpu", _needs(gpus=1)), Waiting("plain", _needs())]
    assert list(admit(waiting, busy, CAPACITY).granted) == ["plain"]


def test_gpus_are_given_out_once() -> None:
    """Two runs never get the same GPU."""
    waiting = [Waiting(name, _needs(gpus=1)) for name in "ab"]
    granted = admit(waiting, {}, CAPACITY).granted
    assert (granted["a"].gpus, granted["b"].gpus) == ((0,), (1,))


def test_a_session_does_not_wait_for_a_cpu() -> None:
    """A played session starts on a machine whose CPUs are all given out."""
    busy = {"going": Grant(4, 0)}
    admission = admit([Waiting("play", _needs(), "play")], busy, CAPACITY)
    assert admission.granted["play"].cpus == 0


def test_a_sweep_leaves_cpu_and_place_to_its_trials() -> None:
    """On a machine for one run at a time its trials start anyway."""
    small = Capacity(runs=1, cpus=1, memory_mb=1000, gpus=())
    sweep = admit([Waiting("sweep", _needs(), "sweep")], {}, small).granted
    assert list(admit([Waiting("trial", _needs())], sweep, small).granted) == ["trial"]


def test_a_run_that_can_never_fit_is_reported() -> None:
    """A GPU that is not there is never granted."""
    assert shortfall(_needs(gpus=3), CAPACITY) == "it requests 3 GPUs, and the maximum is 2"
    assert shortfall(_needs(cpus=4, gpus=2, memory_mb=1000), CAPACITY) is None


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(1, 1500)), max_size=12),
    st.lists(st.tuples(st.integers(1, 2), st.integers(0, 300)), max_size=3),
)
def test_never_more_than_there_is(
    needs: list[tuple[int, int, int]], going: list[tuple[int, int]]
) -> None:
    """Whatever is asked for, all grants together stay within the capacity."""
    granted = {f"g{i}": Grant(cpus, memory) for i, (cpus, memory) in enumerate(going)}
    waiting = [
        Waiting(f"w{i}", _needs(cpus, gpus, memory)) for i, (cpus, gpus, memory) in enumerate(needs)
    ]
    admission = admit(waiting, granted, CAPACITY)
    everyone = [*granted.values(), *admission.granted.values()]
    if admission.granted:
        assert len(everyone) <= CAPACITY.runs
        assert sum(grant.cpus for grant in everyone) <= CAPACITY.cpus
        assert sum(grant.memory_mb for grant in everyone) <= CAPACITY.memory_mb
    gpus = [gpu for grant in everyone for gpu in grant.gpus]
    assert len(gpus) == len(set(gpus))
    assert set(admission.granted) | set(admission.waits) == {run.run_id for run in waiting}

"""Admission of queued runs by capacity."""

from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.run_config import ResourcesConfig
from mosaic.trainer.runs.admission import Capacity, Grant, Waiting, admit, shortfall

CAPACITY = Capacity(runs=3, cpus=4, memory_mb=1000, gpus=(0, 1))


def _resources(cpus: int = 1, gpus: int = 0, memory_mb: int | None = None) -> ResourcesConfig:
    return ResourcesConfig(cpus=cpus, gpus=gpus, memory_mb=memory_mb)


def test_runs_start_in_the_given_order() -> None:
    """Runs start until the capacity is used."""
    waiting = [Waiting(name, _resources(cpus=2)) for name in "abc"]
    admission = admit(waiting, {}, CAPACITY)
    assert list(admission.granted) == ["a", "b"]
    assert admission.waits == {"c": "it requests 2 CPUs, and 0 of 4 are free"}


def test_a_large_run_is_not_delayed_indefinitely() -> None:
    """Resources are reserved for a waiting run, so that smaller runs do not overtake it."""
    waiting = [Waiting("large", _resources(cpus=4)), Waiting("small", _resources())]
    admission = admit(waiting, {"running": Grant(1, 0)}, CAPACITY)
    assert not admission.granted


def test_a_run_may_overtake_one_that_waits_for_other_resources() -> None:
    """A run that waits for a GPU does not delay one without a GPU."""
    busy = {"running": Grant(1, 0, (0, 1))}
    waiting = [Waiting("gpu", _resources(gpus=1)), Waiting("plain", _resources())]
    assert list(admit(waiting, busy, CAPACITY).granted) == ["plain"]


def test_gpus_are_assigned_once() -> None:
    """Two runs never get the same GPU."""
    waiting = [Waiting(name, _resources(gpus=1)) for name in "ab"]
    granted = admit(waiting, {}, CAPACITY).granted
    assert (granted["a"].gpus, granted["b"].gpus) == ((0,), (1,))


def test_a_session_does_not_wait_for_a_cpu() -> None:
    """A session starts even if all CPUs are assigned."""
    busy = {"running": Grant(4, 0)}
    admission = admit([Waiting("play", _resources(), "play")], busy, CAPACITY)
    assert admission.granted["play"].cpus == 0


def test_a_sweep_uses_no_capacity_of_its_trials() -> None:
    """With a capacity of one run, a trial starts beside its sweep."""
    small = Capacity(runs=1, cpus=1, memory_mb=1000, gpus=())
    sweep = admit([Waiting("sweep", _resources(), "sweep")], {}, small).granted
    assert list(admit([Waiting("trial", _resources())], sweep, small).granted) == ["trial"]


def test_a_run_above_the_capacity_is_reported() -> None:
    """`shortfall` names the resource that exceeds the capacity."""
    assert shortfall(_resources(gpus=3), CAPACITY) == "it requests 3 GPUs, and the maximum is 2"
    assert shortfall(_resources(cpus=4, gpus=2, memory_mb=1000), CAPACITY) is None


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(1, 1500)), max_size=12),
    st.lists(st.tuples(st.integers(1, 2), st.integers(0, 300)), max_size=3),
)
def test_grants_never_exceed_the_capacity(
    requested: list[tuple[int, int, int]], running: list[tuple[int, int]]
) -> None:
    """For any requests, the sum of all grants is within the capacity."""
    granted = {f"g{i}": Grant(cpus, memory) for i, (cpus, memory) in enumerate(running)}
    waiting = [
        Waiting(f"w{i}", _resources(cpus, gpus, memory))
        for i, (cpus, gpus, memory) in enumerate(requested)
    ]
    admission = admit(waiting, granted, CAPACITY)
    grants = [*granted.values(), *admission.granted.values()]
    if admission.granted:
        assert len(grants) <= CAPACITY.runs
        assert sum(grant.cpus for grant in grants) <= CAPACITY.cpus
        assert sum(grant.memory_mb for grant in grants) <= CAPACITY.memory_mb
    gpus = [gpu for grant in grants for gpu in grant.gpus]
    assert len(gpus) == len(set(gpus))
    assert set(admission.granted) | set(admission.waits) == {run.run_id for run in waiting}

"""Random numbers that are drawn ahead are those that would have been drawn one by one."""

from __future__ import annotations

import numpy as np

from mosaic_worker.recording.rng_state import query_state
from spade_bdi_rl_worker.learning.random_stream import BLOCK, RandomStream, is_known


def two_generators() -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(7), np.random.default_rng(7)


def test_numbers_and_states_are_those_of_the_generator() -> None:
    """Over several blocks, so that every place in a block and its ends are looked at."""
    ahead, alone = two_generators()
    stream = RandomStream(ahead)

    for at in range(2 * BLOCK + 5):
        if at % 61 == 0 or at % BLOCK in (0, 1, BLOCK - 1):
            assert stream.state() == query_state(alone)
        assert stream.draw() == alone.random()


def test_a_half_used_number_stays_where_it_is() -> None:
    """Whole numbers of 32 bits leave a half behind, which uniform numbers do not touch."""
    ahead, alone = two_generators()
    for generator in (ahead, alone):
        generator.integers(0, 1 << 20, dtype=np.uint32)
    stream = RandomStream(ahead)

    assert stream.draw() == alone.random()
    assert stream.state() == query_state(alone)


def test_a_settled_generator_is_where_the_stream_was() -> None:
    """Others may draw from it then, and the stream goes on after them."""
    ahead, alone = two_generators()
    stream = RandomStream(ahead)
    assert [stream.draw() for _ in range(10)] == [alone.random() for _ in range(10)]

    stream.settle()
    stream.settle()

    assert query_state(ahead) == query_state(alone)
    assert ahead.normal() == alone.normal()
    assert stream.state() == query_state(alone)
    assert [stream.draw() for _ in range(BLOCK)] == [alone.random() for _ in range(BLOCK)]


def test_only_a_generator_that_computes_so_is_known() -> None:
    """Another kind is left to the environment itself."""
    assert is_known(np.random.default_rng(1))
    assert not is_known(np.random.Generator(np.random.MT19937(1)))
    assert not is_known(np.random.Generator(np.random.PCG64DXSM(1)))
    assert not is_known(None)

"""Random numbers drawn in blocks equal those drawn one by one."""

from __future__ import annotations

import numpy as np

from mosaic_worker.recording.rng_state import query_state
from spade_bdi_rl_worker.learning.random_stream import BLOCK, RandomStream, is_supported_generator


def two_generators() -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(7), np.random.default_rng(7)


def test_numbers_and_states_match_the_generator() -> None:
    """Over several blocks, including their boundaries."""
    ahead, alone = two_generators()
    stream = RandomStream(ahead)

    for at in range(2 * BLOCK + 5):
        if at % 61 == 0 or at % BLOCK in (0, 1, BLOCK - 1):
            assert stream.state() == query_state(alone)
        assert stream.draw() == alone.random()


def test_a_buffered_32_bit_half_is_kept() -> None:
    """32-bit integers leave a buffered half, which uniform numbers do not use."""
    ahead, alone = two_generators()
    for generator in (ahead, alone):
        generator.integers(0, 1 << 20, dtype=np.uint32)
    stream = RandomStream(ahead)

    assert stream.draw() == alone.random()
    assert stream.state() == query_state(alone)


def test_sync_generator_moves_it_to_the_stream_position() -> None:
    """Others may then draw from it, and the stream continues after them."""
    ahead, alone = two_generators()
    stream = RandomStream(ahead)
    assert [stream.draw() for _ in range(10)] == [alone.random() for _ in range(10)]

    stream.sync_generator()
    stream.sync_generator()

    assert query_state(ahead) == query_state(alone)
    assert ahead.normal() == alone.normal()
    assert stream.state() == query_state(alone)
    assert [stream.draw() for _ in range(BLOCK)] == [alone.random() for _ in range(BLOCK)]


def test_only_pcg64_is_supported() -> None:
    """With other generators the environment itself is stepped."""
    assert is_supported_generator(np.random.default_rng(1))
    assert not is_supported_generator(np.random.Generator(np.random.MT19937(1)))
    assert not is_supported_generator(np.random.Generator(np.random.PCG64DXSM(1)))
    assert not is_supported_generator(None)

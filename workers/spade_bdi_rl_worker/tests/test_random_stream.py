"""Random numbers drawn in blocks equal those drawn one by one."""

from __future__ import annotations

import numpy as np

from mosaic_worker.recording.rng_state import query_state
from spade_bdi_rl_worker.learning.random_stream import BLOCK, RandomStream, is_supported_generator


def two_generators() -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(7), np.random.default_rng(7)


def test_numbers_and_states_match_the_generator() -> None:
    """Over several blocks, including their boundaries."""
    streamed, reference = two_generators()
    stream = RandomStream(streamed)

    for index in range(2 * BLOCK + 5):
        if index % 61 == 0 or index % BLOCK in (0, 1, BLOCK - 1):
            assert stream.state() == query_state(reference)
        assert stream.draw() == reference.random()


def test_a_buffered_32_bit_half_is_kept() -> None:
    """32-bit integers leave a buffered half, which uniform numbers do not use."""
    streamed, reference = two_generators()
    for generator in (streamed, reference):
        generator.integers(0, 1 << 20, dtype=np.uint32)
    stream = RandomStream(streamed)

    assert stream.draw() == reference.random()
    assert stream.state() == query_state(reference)


def test_sync_generator_moves_it_to_the_stream_position() -> None:
    """Others may then draw from it, and the stream continues after them."""
    streamed, reference = two_generators()
    stream = RandomStream(streamed)
    assert [stream.draw() for _ in range(10)] == [reference.random() for _ in range(10)]

    stream.sync_generator()
    stream.sync_generator()

    assert query_state(streamed) == query_state(reference)
    assert streamed.normal() == reference.normal()
    assert stream.state() == query_state(reference)
    assert [stream.draw() for _ in range(BLOCK)] == [reference.random() for _ in range(BLOCK)]


def test_only_pcg64_is_supported() -> None:
    """With other generators the environment itself is stepped."""
    assert is_supported_generator(np.random.default_rng(1))
    assert not is_supported_generator(np.random.Generator(np.random.MT19937(1)))
    assert not is_supported_generator(np.random.Generator(np.random.PCG64DXSM(1)))
    assert not is_supported_generator(None)

"""Tests that need spade run in the bundle's Python; those here need gymnasium and numpy."""

collect_ignore = ["with_spade"]

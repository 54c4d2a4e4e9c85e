"""Tests that need torch run in the bundle's Python: tests/workers/cleanrl starts them."""

collect_ignore = ["with_torch"]

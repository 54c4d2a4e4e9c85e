"""What every test of this checkout runs under, whichever package it is in."""

pytest_plugins = [
    "tests.support.collecting",
    "tests.support.leftovers",
    "tests.support.stuck_tests",
]

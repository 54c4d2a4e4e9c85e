"""The list of runs: filtered, sorted, grouped, tagged."""

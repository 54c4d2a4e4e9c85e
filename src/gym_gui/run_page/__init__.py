"""The page of one run: overview, configuration, artifacts, log, reproduction."""

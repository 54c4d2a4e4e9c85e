"""Telemetry of the worker: episodes, metrics, the policy table and BDI updates."""

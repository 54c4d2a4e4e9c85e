"""MOSAIC without the window: contract, telemetry, trainer, client and command line."""

__version__ = "0.1.0"

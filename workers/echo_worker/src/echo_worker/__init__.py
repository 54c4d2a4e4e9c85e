"""The example worker: emits every kind of line, and misbehaves when told to."""

__version__ = "0.1.0"

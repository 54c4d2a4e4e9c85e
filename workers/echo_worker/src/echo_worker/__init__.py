"""The example worker: emits every kind of line, and misbehaves on request."""

__version__ = "0.1.0"

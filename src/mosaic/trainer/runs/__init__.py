"""The life of a run: queue, start, watch, pause, stop, recover."""

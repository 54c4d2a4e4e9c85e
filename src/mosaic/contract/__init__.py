"""What crosses a process boundary: events, run configuration, manifest, descriptor, ids, paths."""

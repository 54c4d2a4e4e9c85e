"""Replays one recorded episode: the helper process behind every replay.

`python -m mosaic_worker.resimulation RECORDING.json` creates the environment of the record,
restores the recorded start, takes the recorded actions, and compares every reward and end flag with
the record. The trainer daemon starts it in the bundle of the run.

Requests are JSON lines on stdin: `{"request": 3, "first": 0, "count": 100}` asks for frames, where
frame k shows the environment after k steps and a count of 0 means all remaining frames. A newer
request replaces the current one. The end of stdin ends the process immediately.

Messages on stdout consist of two big-endian 32-bit lengths, a JSON object with a `kind` (`opened`,
`frame`, `checked`, `done`, `error`), and the pixels of a frame.
"""

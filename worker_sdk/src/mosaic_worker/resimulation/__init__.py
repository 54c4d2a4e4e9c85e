"""One recorded episode, played again: the helper process behind every replay.

`python -m mosaic_worker.resimulation RECORDING.json` makes the environment of the record, brings it
to the recorded start, takes the recorded actions, and compares every reward and end with the
record. The trainer daemon starts it in the bundle of the run; nobody else needs to know of it.

Commands are JSON lines on stdin: `{"request": 3, "first": 0, "count": 100}` asks for frames, where
frame k is what is seen after k steps and a count of 0 means all that follow. A newer command
replaces the one before it. The end of stdin ends the process at once.

What comes back on stdout are messages: two big-endian 32-bit lengths, a JSON object with a `kind`
(`opened`, `frame`, `checked`, `done`, `error`), and for a frame its pixels.
"""

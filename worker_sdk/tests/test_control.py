"""Commands reach their handlers; unknown and invalid ones are answered with a log line."""

from __future__ import annotations

import json
import os
import threading
import time
import unittest
from typing import Any

from mosaic_worker.control import MAX_COMMAND_BYTES, MAX_QUEUED, Control, ControlCommand
from mosaic_worker.emitter import Emitter


class ControlTest(unittest.TestCase):
    def setUp(self) -> None:
        telemetry = os.memfd_create("telemetry")
        self.addCleanup(os.close, telemetry)
        self.telemetry = telemetry
        emitter = Emitter(fd=telemetry)
        self.addCleanup(emitter.writer.close)
        read_end, self.write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        self.addCleanup(self.end_input)
        self.wake_calls = 0
        self.control = Control(emitter, fd=read_end, wake=self.wake)
        self.control.accept("action")
        self.last = threading.Event()
        self.control.on("last", lambda _: self.last.set())

    def wake(self) -> None:
        self.wake_calls += 1

    def send(self, *pieces: bytes) -> None:
        """Send everything, and wait until it was processed."""
        self.control.start()
        for piece in pieces:
            os.write(self.write_end, piece)
        os.write(self.write_end, b'{"cmd": "last"}\n')
        self.assertTrue(self.last.wait(30))

    def end_input(self) -> None:
        """End of input is not an error: the thread ends, and the worker continues."""
        os.close(self.write_end)
        deadline = time.monotonic() + 30
        while any(thread.name == "mosaic-control" for thread in threading.enumerate()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)

    def logs(self) -> list[dict[str, Any]]:
        data = os.pread(self.telemetry, os.fstat(self.telemetry).st_size, 0)
        return [json.loads(line) for line in data.splitlines()]

    def test_commands_go_to_handlers_or_to_poll(self) -> None:
        """A handler gets its command with all fields; accepted ones are queued in order."""
        handled: list[ControlCommand] = []
        self.control.on("speed", handled.append)
        self.send(
            b'{"cmd": "action", "seq": 1, "value": [0.5]}\n{"cmd": "sp',
            b'eed", "seq": 2, "value": 3}\n{"cmd": "action", "value": 9}\n',
        )
        self.assertEqual([(c.cmd, c.seq, c.fields["value"]) for c in handled], [("speed", 2, 3)])
        first, second = self.control.poll(), self.control.poll()
        assert first is not None
        assert second is not None
        self.assertEqual((first.seq, first.fields["value"]), (1, [0.5]))
        self.assertEqual((second.seq, second.fields["value"]), (0, 9))
        self.assertIsNone(self.control.poll())
        self.assertEqual(self.logs(), [])

    def test_an_accepted_command_no_longer_goes_to_its_handler(self) -> None:
        """A loop that accepts a command gets it in order, and is woken."""
        handled: list[ControlCommand] = []
        self.control.on("pause", handled.append)
        self.control.accept("pause")
        self.send(b'{"cmd": "pause", "seq": 1}\n{"cmd": "action", "seq": 2}\n')
        queued = [self.control.poll(), self.control.poll()]
        self.assertEqual([command.seq for command in queued if command], [1, 2])
        self.assertEqual((handled, self.control.has_queued()), ([], False))
        self.assertEqual(self.wake_calls, 2)

    def test_an_unknown_command_is_answered(self) -> None:
        """The log line has its name and sequence number."""
        self.send(b'{"cmd": "dance", "seq": 7}\n')
        (log,) = self.logs()
        self.assertEqual((log["code"], log["fields"]), ("W110", {"cmd": "dance", "seq": 7}))

    def test_broken_lines_are_answered_and_skipped(self) -> None:
        """The next command is processed."""
        self.send(b"{\n", b"\xff\xfe\n", b"[]\n", b'{"cmd": 3}\n', b'{"cmd": "a", "seq": "b"}\n')
        self.assertEqual([log["code"] for log in self.logs()], ["W111"] * 5)

    def test_sequence_numbers_out_of_range(self) -> None:
        """A sequence number is repeated in steps and frames, so it must fit into 64 bits."""
        numbers = (b"-1", b"9223372036854775808", b"true", b"1.5")
        self.send(*(b'{"cmd": "action", "seq": ' + number + b"}\n" for number in numbers))
        self.assertEqual([log["code"] for log in self.logs()], ["W111"] * 4)
        self.assertIsNone(self.control.poll())

    def test_a_line_nested_too_deeply_does_not_stop_the_next(self) -> None:
        """It is answered, and the following stop arrives."""
        stops: list[ControlCommand] = []
        self.control.on("stop", stops.append)
        self.send(b"[" * 4000 + b"\n", b'{"cmd": "stop", "seq": 3}\n')
        self.assertEqual([log["code"] for log in self.logs()], ["W111"])
        self.assertEqual([stop.seq for stop in stops], [3])

    def test_an_oversize_line_is_answered_once_and_skipped(self) -> None:
        """A line over the limit is not buffered, and the next command is processed."""
        long = b'{"cmd": "' + b"x" * MAX_COMMAND_BYTES * 3 + b'"}\n'
        self.send(long[:4000], long[4000:9000], long[9000:], b"\n", b'{"cmd": "action"}\n')
        self.assertEqual([log["code"] for log in self.logs()], ["W111"])
        self.assertIsNotNone(self.control.poll())

    def test_a_failing_handler_is_reported(self) -> None:
        """The thread continues after an exception of a handler."""

        def fail(_: ControlCommand) -> None:
            raise RuntimeError("cannot")

        self.control.on("reset", fail)
        self.send(b'{"cmd": "reset", "seq": 4}\n')
        (log,) = self.logs()
        self.assertEqual((log["code"], log["level"]), ("W112", "error"))
        self.assertIn("RuntimeError: cannot", log["message"])

    def test_the_command_queue_is_limited(self) -> None:
        """When a thousand commands are queued, further ones are rejected with a message."""
        line = b'{"cmd": "action"}\n'
        self.send(*([line * 32] * (MAX_QUEUED // 32)), line)
        self.assertEqual([log["code"] for log in self.logs()], ["W113"])
        count = 0
        while self.control.poll() is not None:
            count += 1
        self.assertEqual(count, MAX_QUEUED)


if __name__ == "__main__":
    unittest.main()

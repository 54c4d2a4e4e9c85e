"""A checkpoint is complete or does not exist, and its line describes it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import unittest
from pathlib import Path

from mosaic_worker import Emitter, WorkerError, save_checkpoint
from mosaic_worker.run import RunFolder


class CheckpointTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.fd = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.fd)
        self.emitter = Emitter(fd=self.fd)
        self.addCleanup(self.emitter.writer.close)

    def test_a_home_that_is_moved(self) -> None:
        """A checkpoint is written to the current path of the run's directory."""
        first = self.folder / "home" / "run"
        first.mkdir(parents=True)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(first)
        folder = RunFolder(first)
        save_checkpoint(self.emitter, folder.path, "a.bin", b"a", step=1)
        moved = self.folder / "moved" / "run"
        (self.folder / "home").rename(self.folder / "moved")
        save_checkpoint(self.emitter, folder.path, "b.bin", b"b", step=2)
        self.assertEqual(sorted(file.name for file in moved.glob("*/*")), ["a.bin", "b.bin"])
        self.assertFalse(first.exists())

    def test_a_directory_that_is_removed(self) -> None:
        """Its last known path is returned."""
        first = self.folder / "run"
        first.mkdir()
        folder = RunFolder(first)
        first.rmdir()
        self.assertEqual(folder.path, first)

    def test_bytes_and_writers(self) -> None:
        """The artifact line has step, metrics and hash, for bytes and for a function."""
        save_checkpoint(self.emitter, self.folder, "a.bin", b"abc", step=5, metrics={"loss": 0.5})
        path = save_checkpoint(
            self.emitter,
            self.folder,
            "b.bin",
            lambda path: path.write_bytes(b"xyz"),
            step=6,
            by="me",
        )
        self.assertEqual(path.read_bytes(), b"xyz")
        first, second = (json.loads(line) for line in os.pread(self.fd, 10_000, 0).splitlines())
        self.assertEqual(
            first,
            {
                "type": "artifact",
                "kind": "checkpoint",
                "path": "checkpoints/a.bin",
                "meta": {
                    "step": 5,
                    "metrics": {"loss": 0.5},
                    "sha256": hashlib.sha256(b"abc").hexdigest(),
                    "bytes": 3,
                },
            },
        )
        self.assertEqual((second["path"], second["meta"]["by"]), ("checkpoints/b.bin", "me"))

    def test_a_failed_write_keeps_the_old_one(self) -> None:
        """A writer that raises leaves neither an incomplete file nor a line."""
        save_checkpoint(self.emitter, self.folder, "a.bin", b"old", step=1)

        def fail(path: Path) -> None:
            path.write_bytes(b"ne")
            raise OSError("write failed")

        with self.assertRaisesRegex(OSError, "write failed"):
            save_checkpoint(self.emitter, self.folder, "a.bin", fail, step=2)
        names = [path.name for path in (self.folder / "checkpoints").iterdir()]
        self.assertEqual(names, ["a.bin"])
        self.assertEqual((self.folder / "checkpoints" / "a.bin").read_bytes(), b"old")
        self.assertEqual(len(os.pread(self.fd, 10_000, 0).splitlines()), 1)

    def test_a_name_cannot_leave_the_folder(self) -> None:
        """Only plain file names are accepted."""
        for name in ("../a", "a/b", ".hidden", "", ".."):
            with self.subTest(name=name), self.assertRaisesRegex(
                WorkerError, "not a valid checkpoint name"
            ):
                save_checkpoint(self.emitter, self.folder, name, b"", step=1)


if __name__ == "__main__":
    unittest.main()

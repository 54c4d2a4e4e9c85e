"""Every old spelling that workers may import still returns the current object."""

import importlib
import unittest
from typing import Any
from unittest import mock

from mosaic_worker import Run
from mosaic_worker.compat import OLD_MODULES, OLD_NAMES
from mosaic_worker.play.frame_publisher import FramePublisher
from mosaic_worker.recording.recorder import EpisodeRecorder


def import_name(module: str, name: str) -> Any:
    """Return the result of `from module import name`."""
    return getattr(importlib.import_module(f"mosaic_worker.{module}"), name)


class OldNamesTest(unittest.TestCase):
    def test_every_old_name_is_the_current_one(self) -> None:
        """Names of removed modules, and renamed ones of modules that still exist."""
        for module, names in [*OLD_MODULES.items(), *OLD_NAMES.items()]:
            for old, target in names.items():
                with self.subTest(module=module, name=old):
                    current_module, _, current = target.partition(":")
                    self.assertIs(import_name(module, old), import_name(current_module, current))

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        """As for any other module."""
        for module in [*OLD_MODULES, *OLD_NAMES]:
            with self.subTest(module), self.assertRaises(AttributeError):
                import_name(module, "no_such_name")

    def test_an_unknown_module_is_an_import_error(self) -> None:
        """Only the modules of the table are importable by an old name."""
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("mosaic_worker.no_such_module")

    def test_old_methods_call_the_current_ones(self) -> None:
        """For the classes whose instances workers receive."""
        run = mock.Mock(spec=Run, is_pause_requested=True)
        self.assertIs(Run.is_told_to_pause.fget(run), True)  # type: ignore[attr-defined]
        self.assertIs(Run.recorder_of(run, "a"), run.recorder_for.return_value)
        run.recorder_for.assert_called_once_with("a")
        recorder = mock.Mock(spec=EpisodeRecorder)
        EpisodeRecorder.note(recorder, actor="human")
        recorder.annotate.assert_called_once_with(actor="human")
        publisher = mock.Mock(spec=FramePublisher)
        FramePublisher.show_beginning(publisher, {"step": 1}, 3)
        publisher.show_start.assert_called_once_with({"step": 1}, 3)


if __name__ == "__main__":
    unittest.main()

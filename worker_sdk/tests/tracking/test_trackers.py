"""Trackers: the files they write, and the messages if a tracker is unavailable."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import unittest
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from mosaic_worker.run_config import RunConfig
from mosaic_worker.tracking.settings import TrackingSettings, WandbSettings, tracking_settings
from mosaic_worker.tracking.trackers import Trackers

if TYPE_CHECKING:
    from collections.abc import Mapping

PARAMETERS = {"env_id": "CartPole-v1", "seed": 7}
OFFLINE = WandbSettings(mode="offline", project="tests", group="CartPole-v1-ppo")

PACKAGE = """
import json, os, types

class Error(Exception):
    pass

class Settings:
    def __init__(self, **given):
        self.mode = given["mode"]

class Tracked:
    id, url = "abc", "https://tracker.invalid/abc"

    def __init__(self, folder, mode):
        self.offline = mode == "offline"
        self.settings = types.SimpleNamespace(sync_dir=folder)

    def log(self, values, step):
        if "break" in values:
            raise Error("the disk is full\\nand more")
        self._write([step, values])

    def finish(self):
        self._write("finished")

    def _write(self, row):
        with open(os.path.join(self.settings.sync_dir, "rows"), "a") as file:
            file.write(json.dumps(row) + "\\n")

def init(**given):
    print("wandb: chatter")
    folder = os.path.join(given["dir"], "wandb", "offline-run-abc")
    os.makedirs(folder)
    settings = given.pop("settings")
    with open(os.path.join(folder, "arguments"), "w") as file:
        json.dump(given, file)
    return Tracked(folder, settings.mode)
"""
"""Replaces the package wandb, which need not be installed."""


class RecordingListener:
    """A listener that stores its messages."""

    should_stop = False

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.artifacts: list[tuple[str, str]] = []
        self.links: list[tuple[str, str]] = []
        self.messages: list[tuple[str, str]] = []

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.artifacts.append((kind, path))

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.links.append((kind, url))

    def log_message(self, level: str, message: str) -> None:
        self.messages.append((level, message))


class TrackersTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.listener = RecordingListener(self.folder / "run")

    def trackers(self, **settings: Any) -> Trackers:
        settings = {"name": "a-run", "parameters": PARAMETERS, **settings}
        trackers = Trackers(self.listener, TrackingSettings(**settings))
        self.addCleanup(trackers.close)
        return trackers

    def event_file(self) -> bytes:
        (path,) = (self.folder / "run" / "runs" / "a-run").iterdir()
        return path.read_bytes()


class EventFileTest(TrackersTest):
    def test_the_parameters_are_written_at_the_start(self) -> None:
        """They are in the file of a run that is killed; there is one artifact."""
        trackers = self.trackers()
        table = b"|param|value|\n|-|-|\n|env_id|CartPole-v1|\n|seed|7|"
        self.assertIn(table, self.event_file())
        trackers.close()
        trackers.close()
        self.assertEqual(self.listener.artifacts, [("tensorboard", "runs/a-run")])
        self.assertEqual(self.listener.messages, [])

    def test_numbers_of_any_kind_are_written(self) -> None:
        """Integers, booleans, and objects that convert to a number."""
        number = mock.Mock(__float__=lambda _: 0.5, __int__=lambda _: 3)
        trackers = self.trackers()
        trackers.scalars({"object": number, "integer": 1, "flag": True}, number)
        trackers.close()
        for name in (b"object\x15", b"integer\x15", b"flag\x15"):
            self.assertIn(name, self.event_file())

    def test_disabled_trackers_write_nothing(self) -> None:
        """There are no files and no messages."""
        trackers = self.trackers(tensorboard=False)
        trackers.scalars({"charts/SPS": 1.0}, 1)
        trackers.close()
        self.assertFalse(self.listener.directory.exists())
        self.assertEqual(self.listener.artifacts + self.listener.messages, [])

    def test_a_folder_that_cannot_be_created_is_a_warning(self) -> None:
        """Nothing is raised, so that training continues."""
        self.listener.directory.write_text("a file where the folder should be")
        trackers = self.trackers()
        trackers.scalars({"charts/SPS": 1.0}, 1)
        [(level, message)] = self.listener.messages
        self.assertEqual(level, "warning")
        self.assertEqual(message, "The TensorBoard event file cannot be created: Not a directory.")

    @unittest.skipUnless(Path("/dev/full").exists(), "there is no file that is always full")
    def test_a_full_disk_does_not_end_the_training(self) -> None:
        """Writing stops with one message."""
        trackers = self.trackers()
        events: Any = trackers._events
        with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123 - needs no buffer
            events._file._file.close()
            events._file._file = full
            for step in range(3):
                trackers.scalars({"charts/SPS": 1.0}, step)
        [(_, message)] = self.listener.messages
        self.assertIn("cannot be written: No space left", message)


class WandbTest(TrackersTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "wandb").mkdir()
        (self.folder / "wandb" / "__init__.py").write_text(PACKAGE)
        with_package = [str(self.folder), *sys.path]
        for patch in (
            mock.patch.object(sys, "path", with_package),
            mock.patch.dict(os.environ, {"WANDB_API_KEY": "a-secret"}),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        os.environ.pop("WANDB_MODE", None)
        importlib.invalidate_caches()

    def rows(self) -> list[Any]:
        path = self.listener.directory / "wandb" / "offline-run-abc" / "rows"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_every_step_is_a_row(self) -> None:
        """The folder is announced, the run has its name, and output of wandb is ignored."""
        trackers = self.trackers(tensorboard=False, wandb=OFFLINE)
        for step in range(3):
            trackers.scalars({"charts/SPS": 100.0 + step}, step)
            trackers.scalars({"losses/value_loss": 0.5}, step)
        trackers.close()
        self.assertEqual(self.listener.messages, [])
        self.assertEqual(self.listener.artifacts, [("wandb", "wandb/offline-run-abc")])
        self.assertEqual(self.listener.links, [])
        expected = [
            [n, {"charts/SPS": 100.0 + n, "losses/value_loss": 0.5, "global_step": n}]
            for n in range(3)
        ]
        self.assertEqual(self.rows(), [*expected, "finished"])
        folder = self.listener.directory / "wandb" / "offline-run-abc"
        arguments = json.loads((folder / "arguments").read_text())
        self.assertEqual((arguments["project"], arguments["name"]), ("tests", "a-run"))
        self.assertEqual((arguments["group"], arguments["config"]), ("CartPole-v1-ppo", PARAMETERS))

    def test_a_broken_wandb_run_is_one_warning(self) -> None:
        """The training continues, and later values are dropped."""
        trackers = self.trackers(tensorboard=False, wandb=OFFLINE)
        trackers.scalars({"break": 1.0}, 1)
        trackers.scalars({"charts/SPS": 1.0}, 2)
        trackers.close()
        message = "Weights & Biases stopped tracking: the disk is full"
        self.assertEqual(self.listener.messages, [("warning", message)])

    def test_without_a_key_it_runs_offline(self) -> None:
        """The message has the reason and the command that uploads the run later."""
        del os.environ["WANDB_API_KEY"]
        trackers = self.trackers(tensorboard=False, wandb=OFFLINE._replace(mode="online"))
        trackers.close()
        [(_, message)] = self.listener.messages
        self.assertIn("runs offline, because WANDB_API_KEY is not set", message)
        self.assertIn(f"`wandb sync {self.listener.directory}/wandb/offline-run-*`", message)
        self.assertEqual(self.listener.artifacts, [("wandb", "wandb/offline-run-abc")])

    def test_the_variable_wandb_mode_can_disable_it(self) -> None:
        """Nothing is started or logged."""
        os.environ["WANDB_MODE"] = "disabled"
        self.trackers(tensorboard=False, wandb=WandbSettings()).close()
        self.trackers(tensorboard=False, wandb=WandbSettings(mode="disabled")).close()
        self.assertFalse((self.listener.directory / "wandb").exists())
        self.assertEqual(self.listener.messages, [])

    def test_without_the_package_the_extra_is_named(self) -> None:
        """A folder `wandb` in the current directory is not the package."""
        for spec in (None, ModuleSpec("wandb", None)):
            with mock.patch("importlib.util.find_spec", return_value=spec):
                self.trackers(tensorboard=False, wandb=OFFLINE, bundle="my_worker").close()
            (level, message) = self.listener.messages.pop()
            self.assertEqual(level, "warning")
            self.assertIn("install the extra `wandb` of the bundle my_worker", message)
        self.assertEqual(self.listener.messages, [])


class SettingsTest(unittest.TestCase):
    def settings(self, **raw: Any) -> TrackingSettings:
        return tracking_settings(
            RunConfig("train", "ppo", "ALE/Pong-v5", {}, 3, 10, None, {"rate": 0.5}, raw)
        )

    def test_by_default_only_event_files_are_written(self) -> None:
        """The name of the folder is that of the protocol."""
        settings = self.settings()
        self.assertTrue(settings.tensorboard)
        self.assertIsNone(settings.wandb)
        self.assertRegex(settings.name, r"^ALE-Pong-v5__ppo__3__\d+$")
        self.assertEqual(settings.parameters["rate"], 0.5)

    def test_trackers_follow_the_artifacts_of_the_run(self) -> None:
        """Each can be enabled or disabled."""
        wandb = {"enabled": True, "project": "p", "entity": "e", "mode": "offline", "proxy": "x"}
        artifacts = {"tensorboard": {"enabled": False}, "wandb": wandb}
        settings = self.settings(worker="w", artifacts=artifacts)
        self.assertFalse(settings.tensorboard)
        self.assertEqual(settings.wandb, WandbSettings("p", "e", "offline", "x", "ALE/Pong-v5-ppo"))
        self.assertEqual(settings.bundle, "w")
        self.assertIsNone(self.settings(artifacts={"wandb": {"enabled": False}}).wandb)


if __name__ == "__main__":
    unittest.main()

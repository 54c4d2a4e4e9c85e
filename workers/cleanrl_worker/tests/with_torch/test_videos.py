"""Videos of episodes, decoded again with PyAV."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from quiet_session import quiet_session

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.tracking.videos import RecordEpisodes, is_recorded, missing_package
from mosaic_worker.environments.inspection import find_made_env

HAS_AV = importlib.util.find_spec("av") is not None


class Corridor(gym.Env):
    """Five steps with reward 1, and a frame with odd width and height."""

    observation_space = gym.spaces.Box(0, 9, (1,))
    action_space = gym.spaces.Discrete(2)

    def __init__(self, fails_after: int = 10**9) -> None:
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
        self.render_mode = "rgb_array"
        self._fails_after = fails_after
        self._rendered = 0
        self._position = 0

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        self._position = 0
        return np.zeros(1, np.float32), {}

    def step(self, _: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._position += 1
        return np.full(1, self._position, np.float32), 1.0, self._position == 5, False, {}

    def render(self) -> Any:
        self._rendered += 1
        if self._rendered > self._fails_after:
            raise RuntimeError("no display")
        frame = np.zeros((33, 45, 3), np.uint8)
        frame[:, : 8 * self._position] = 255
        return frame


def play(env: Any, episodes: int) -> None:
    for _ in range(episodes):
        env.reset()
        terminated = False
        while not terminated:
            terminated = env.step(0)[2]


class VideosTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "videos" / "a-run"
        self.logged: list[tuple[Path, dict[str, Any]]] = []
        self.failures: list[str] = []

    def record(self, env: Any, every: int | None = None, max_frames: int = 1000) -> RecordEpisodes:
        return RecordEpisodes(
            env,
            self.folder,
            every=every,
            max_frames=max_frames,
            on_video=lambda path, meta: self.logged.append((path, dict(meta))),
            on_failure=self.failures.append,
        )

    def test_the_default_schedule_is_cubic(self) -> None:
        """Cubes up to a thousand, then each thousandth."""
        chosen = [episode for episode in range(3001) if is_recorded(episode, None)]
        self.assertEqual(chosen, [n**3 for n in range(10)] + [1000, 2000, 3000])
        self.assertEqual([e for e in range(10) if is_recorded(e, 4)], [0, 4, 8])

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_a_video_has_every_step_and_metadata(self) -> None:
        """Frames are in order, and the metadata file has length, return and frame rate."""
        import av  # noqa: PLC0415 - an extra

        env = self.record(Corridor())
        play(env, 3)
        env.close()
        path, meta = self.logged[0]
        self.assertEqual(
            sorted(file.name for file in self.folder.iterdir()),
            [f"rl-video-episode-{k}.{kind}" for k in (0, 1) for kind in ("meta.json", "mp4")],
        )
        with av.open(str(path)) as video:
            stream = video.streams.video[0]
            frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(stream)]
            self.assertEqual(float(stream.average_rate or 0), 10.0)
        white_columns = [int((frame[10, :, 0] > 128).sum()) for frame in frames]
        self.assertEqual(white_columns, [0, 8, 16, 24, 32, 40])
        self.assertEqual(meta, json.loads(path.with_suffix(".meta.json").read_text()))
        self.assertEqual((meta["episode"], meta["length"], meta["return"]), (0, 5, 5.0))
        self.assertTrue(meta["ended"])
        self.assertEqual(self.failures, [])

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_a_video_has_at_most_max_frames(self) -> None:
        """The return is still that of the complete episode."""
        env = self.record(Corridor(), max_frames=3)
        play(env, 1)
        self.assertEqual([meta["frames"] for _, meta in self.logged], [3])
        self.assertEqual(self.logged[0][1]["return"], 5.0)

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_an_unfinished_episode_is_saved(self) -> None:
        """Its video is playable, and marked as unfinished."""
        env = self.record(Corridor())
        env.reset()
        env.step(0)
        env.close()
        self.assertEqual([(m["ended"], m["frames"]) for _, m in self.logged], [(False, 2)])

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_a_render_failure_ends_the_recording_only(self) -> None:
        """One message, no incomplete file, and the training continues."""
        env = self.record(Corridor(fails_after=8), every=1)
        play(env, 4)
        self.assertEqual(len(self.logged), 1)
        self.assertEqual(len(self.failures), 1)
        self.assertIn("no display", self.failures[0])
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_a_frame_that_is_not_an_image_is_an_error(self) -> None:
        """For an environment without a render mode, the reason says so."""
        env = self.record(gym.make("CartPole-v1"))
        play(env, 2)
        self.assertEqual(len(self.failures), 1)
        env.close()

    def test_the_made_environment_is_still_found(self) -> None:
        """Recording and resuming see through the wrapper."""
        made = gym.make("CartPole-v1", render_mode="rgb_array")
        env = self.record(made)
        self.assertIs(find_made_env(env), made)
        env.close()

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_a_session_records_only_its_first_environment(self) -> None:
        """The file is announced with its path in the run's directory."""
        args = SharedArgs(env_id="CartPole-v1", num_envs=2, capture_video=True)
        session, sink = quiet_session("ppo", args, self.folder)
        self.addCleanup(session.close)
        envs = session.make_envs()
        session.initial_observations(envs)
        while not sink.artifacts:
            envs.step(np.zeros(2, np.int64))
        expected = f"videos/{session.run_name}/rl-video-episode-0.mp4"
        self.assertEqual(sink.artifacts[0], ("video", expected))
        self.assertTrue((self.folder / expected).is_file())

    @unittest.skipUnless(HAS_AV, "PyAV is not installed (the extra video)")
    def test_the_video_package_is_installed(self) -> None:
        """Then there is no message."""
        self.assertEqual(missing_package(), "")


if __name__ == "__main__":
    unittest.main()

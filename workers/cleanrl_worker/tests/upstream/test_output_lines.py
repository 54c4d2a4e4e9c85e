"""Lines that CleanRL's scripts print, in all its releases."""

import pytest

from cleanrl_worker.upstream.output_lines import (
    PrintedMetrics,
    PrintedSpeed,
    SavedModel,
    Unreadable,
    WandbRunUrl,
    read_line,
)


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        ("global_step=60, episodic_return=[15.]", 60, {"episodic_return": [15.0]}),
        ("global_step=60, episodic_return=15.0", 60, {"episodic_return": [15.0]}),
        ("global_step=8, episodic_return=[15. -2.5]", 8, {"episodic_return": [15.0, -2.5]}),
        ("global_step=8, episodic_return=[15.0, 20]", 8, {"episodic_return": [15.0, 20.0]}),
        ("global_step=1, episodic_return=np.float32(-1.2e+03)", 1, {"episodic_return": [-1200.0]}),
        ("global_step=1, loss=tensor(0.5)", 1, {"loss": [0.5]}),
        (
            "global_step=9, episodic_return=[3.], episodic_length=[4], fps=99.5, wall_time=1.5",
            9,
            {"episodic_return": [3.0], "episodic_length": [4.0], "fps": [99.5], "wall_time": [1.5]},
        ),
        ("step = 7, reward = nan", 7, None),
        ("global_step=1_000, episodic_return=2_5.5", 1000, {"episodic_return": [25.5]}),
        ("episodic_return=3.5", None, {"episodic_return": [3.5]}),
        (" 50%|####   | 5/10\rglobal_step=5, episodic_return=[1.]", 5, {"episodic_return": [1.0]}),
    ],
)
def test_metric_lines(line: str, step: int | None, values: dict[str, list[float]] | None) -> None:
    """Numbers by name, in all formats of numpy and torch."""
    metrics = read_line(line)
    assert isinstance(metrics, PrintedMetrics)
    assert metrics.step == step
    assert metrics.evaluation is None
    if values is not None:
        assert metrics.values == values


def test_evaluation_lines_are_distinguished() -> None:
    """An evaluation counts its episodes, not training steps."""
    assert read_line("eval_episode=9, episodic_return=[8.]") == PrintedMetrics(
        None, 9, {"episodic_return": [8.0]}
    )


def test_speed_model_and_url_lines() -> None:
    """Speed, a saved model, and the URL of a tracked run."""
    assert read_line("SPS: 1393") == PrintedSpeed(1393.0)
    saved = "runs/CartPole-v1__dqn__1__17/dqn.cleanrl_model"
    assert read_line(f"model saved to {saved}") == SavedModel(saved)
    url = "https://wandb.ai/ada/mosaic/runs/abc123"
    assert read_line(f"\x1b[34mwandb\x1b[0m: View run at {url}") == WandbRunUrl(url, "abc123")


@pytest.mark.parametrize(
    "line",
    [
        "global_step=60, episodic_return=<returns>",
        "global_step=sixty, episodic_return=[15.]",
        "iteration 3: global_step: 60; episodic_return: 15",
        "SPS: fast",
        "loss=0.5; step=3",
        "version=1_",
        "SPS: 1_",
        "global_step=10, episodic_return=1__0",
    ],
)
def test_unknown_formats_are_reported(line: str) -> None:
    """A changed format must not give wrong numbers."""
    assert isinstance(read_line(line), Unreadable)


@pytest.mark.parametrize(
    "line",
    [
        "Moviepy - Building video videos/rl-video-episode-0.mp4.",
        "    args = tyro.cli(Args)",
        "see https://example.org/?page=3",
        "UserWarning: WARN: Overwriting existing videos",
        "",
    ],
)
def test_other_output_is_not_telemetry(line: str) -> None:
    """Other prints and tracebacks are neither metrics nor warnings."""
    assert read_line(line) is None

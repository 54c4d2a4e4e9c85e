"""The curves of one run, from all sources."""

from pathlib import Path

import pytest

from gym_gui.charts.feed.curve_source import CurveSource
from gym_gui.charts.feed.curves import MetricKey
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.analytics.event_files import EventFileWriter
from tests.gym_gui.bdi_worker import bdi_run_config, install_bdi_worker
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def daemon(daemon: DaemonUnderTest, tmp_path: Path) -> DaemonUnderTest:
    """A daemon with a worker whose curves have the name of an agent."""
    install_bdi_worker(tmp_path / "workers", daemon.home)
    daemon.stop()
    daemon.start()
    return daemon


def test_an_agent_has_each_curve_once(link: TrainerLink, daemon: DaemonUnderTest) -> None:
    """Event files prefix the metric with the agent; that is the same curve."""
    run_id = link.client.submit(bdi_run_config()).run_id
    with EventFileWriter(daemon.run(run_id).path / "runs" / "bdi", 1.0) as file:
        file.add(10.0, 1, {"learner/charts/rate": 1.0, "losses/entropy": 2.0})
    daemon.until(run_id)
    source = CurveSource(link.client, run_id)
    source.poll("step", {}, {}, with_state=True)
    assert source.read_events()
    info = source.poll("step", {}, {}, with_state=True).info
    assert info.from_events == {MetricKey("losses/entropy")}
    assert MetricKey("charts/rate", "learner") in info.series

"""Links of the documentation work in the repository and on the site."""

import importlib.util
from pathlib import Path

import pytest

_MODULE = Path(__file__).parents[2] / "setup" / "site_pages.py"


def rewrite_links(markdown: str, page: str) -> str:
    spec = importlib.util.spec_from_file_location("site_pages", _MODULE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rewritten: str = module.rewrite_links(markdown, page)
    return rewritten


@pytest.mark.parametrize(
    ("page", "link", "on_the_site"),
    [
        ("index.md", "docs/user-guide/play.md", "user-guide/play.md"),
        ("index.md", "docs/img/live-dark.png", "img/live-dark.png"),
        ("index.md", "CHANGELOG.md", "changelog.md"),
        ("contributing.md", "docs/protocol.md#events", "protocol.md#events"),
        ("writing-a-worker.md", "../workers/echo_worker/README.md", "echo-worker.md"),
        ("algorithms/ppo.md", "../user-guide/sweeps.md", "../user-guide/sweeps.md"),
        ("algorithms/ppo.md", "../../README.md", "../index.md"),
        ("user-guide/sweeps.md", "https://optuna.org", "https://optuna.org"),
        ("protocol.md", "#events", "#events"),
    ],
)
def test_links(page: str, link: str, on_the_site: str) -> None:
    """A reader of the repository and a reader of the site reach the same page."""
    assert rewrite_links(f"See [this]({link}).", page) == f"See [this]({on_the_site})."

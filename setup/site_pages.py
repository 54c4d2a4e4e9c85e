"""Hooks of mkdocs: pages outside of docs/ become pages of the site, and links to them work.

A link is written relative to its file, as a reader of the repository needs it.
The site has another layout, so links between docs/ and the rest are rewritten when it is built.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parent.parent
_DOCS = "docs/"

# Path in the repository -> path in the site.
_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "run-benchmarks.md",
    "workers/echo_worker/README.md": "echo-worker.md",
}
_SOURCES = {site: source for source, site in _PAGES.items()}

_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, site in _PAGES.items():
        content = (_ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, site, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    del config, files
    return rewrite_links(markdown, page.file.src_uri)


def rewrite_links(markdown: str, site_path: str) -> str:
    """Point relative links of a page to the pages of the site."""
    source = _SOURCES.get(site_path, _DOCS + site_path)

    def rewrite(match: re.Match[str]) -> str:
        target = match[2]
        if ":" in target:
            return match[0]
        in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        in_site = _PAGES.get(in_repository, in_repository.removeprefix(_DOCS))
        relative = posixpath.relpath(in_site, posixpath.dirname(site_path) or ".")
        return f"{match[1]}{relative}{match[3]}"

    return _LINK.sub(rewrite, markdown)

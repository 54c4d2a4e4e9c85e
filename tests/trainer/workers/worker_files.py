"""Write minimal workers, in folders and as installed distributions."""

import json
from pathlib import Path

MANIFEST = """
id = "{worker_id}"
label = "Test worker"
module = "{module}"
python = "{python}"
{bundle}
"""
DESCRIBES_ITSELF = """
import json, sys
import mosaic_worker
print(json.dumps({{"worker": "{worker_id}", "version": "7.0", "modes": ["train"]}}))
"""


def manifest_text(
    worker_id: str, module: str = "", bundle: str | None = None, python: str = ">=3.8"
) -> str:
    line = f'bundle = "{bundle}"' if bundle else ""
    return MANIFEST.format(
        worker_id=worker_id, module=module or worker_id, bundle=line, python=python
    )


def write_worker(
    folder: Path,
    worker_id: str,
    *,
    main: str | None = None,
    bundle: str | None = None,
    python: str = ">=3.8",
) -> Path:
    """Write a worker below `folder`, with its sources in `src/`, and return its package."""
    package = folder / worker_id / "src" / worker_id
    package.mkdir(parents=True, exist_ok=True)
    manifest = manifest_text(worker_id, bundle=bundle, python=python)
    (folder / worker_id / "worker.toml").write_text(manifest)
    (package / "__init__.py").write_text("")
    text = DESCRIBES_ITSELF.format(worker_id=worker_id) if main is None else main
    (package / "__main__.py").write_text(text)
    return package


def install_distribution(
    site: Path, name: str, files: dict[str, str], metadata: str = "", direct_url: str = ""
) -> None:
    """Write the files of an installed distribution: content, RECORD and metadata."""
    info = f"{name}-1.5.dist-info"
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n{metadata}",
    }
    if direct_url:
        content[f"{info}/direct_url.json"] = direct_url
    for path, text in content.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    record = "".join(f"{path},,\n" for path in (*content, f"{info}/RECORD"))
    (site / info / "RECORD").write_text(record)


def install_editable(site: Path, name: str, project: Path) -> None:
    """Write an editable installation: a path file and the project URL."""
    url = json.dumps({"url": project.as_uri(), "dir_info": {"editable": True}})
    install_distribution(site, name, {f"_{name}.pth": f"{project}/src\n"}, direct_url=url)

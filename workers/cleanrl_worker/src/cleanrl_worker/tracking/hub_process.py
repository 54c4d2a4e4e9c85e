"""The process that uploads a folder to the Hugging Face hub; `hub` starts it and limits its time.

`python -m cleanrl_worker.tracking.hub_process REPOSITORY FOLDER`, with the token in HF_TOKEN. Its
standard output is one JSON object: `url`, or `error`.
"""

from __future__ import annotations

import json
import os
import sys


def main(repository: str, folder: str) -> int:
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        result = {"url": _upload(repository, folder)}
    except Exception as error:  # noqa: BLE001 - reported to the parent process
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        result = {"error": " ".join(lines[:2]) or type(error).__name__}
    with output:
        json.dump(result, output)
    return int("error" in result)


def _upload(repository: str, folder: str) -> str:
    from huggingface_hub import HfApi  # noqa: PLC0415 - a missing package is reported, too
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415

    disable_progress_bars()
    api = HfApi(token=os.environ["HF_TOKEN"], library_name="mosaic")
    created = api.create_repo(repository, exist_ok=True)
    api.upload_folder(
        repo_id=repository, folder_path=folder, commit_message="Upload a trained policy"
    )
    return str(created)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

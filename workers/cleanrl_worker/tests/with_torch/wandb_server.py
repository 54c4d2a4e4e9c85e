"""The parts of Weights & Biases' server that a run with curves needs, on a local port."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WandbServer:
    """Stores the received rows. Use it in a `with` statement."""

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []
        self.config: dict[str, Any] = {}
        wandb_server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                data = json.dumps(wandb_server.answer(self.path, body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_PUT = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        if path.endswith("/file_stream"):
            rows = json.loads(body).get("files", {}).get("wandb-history.jsonl", {})
            self.history += [json.loads(row) for row in rows.get("content", [])]
            return {}
        if path != "/graphql":
            return {}
        query = json.loads(body)
        variables = query.get("variables", {})
        name = query.get("operationName")
        if name == "UpsertBucket":
            self.config = json.loads(variables.get("config") or "{}")
            project = {"id": "p", "name": "tests", "entity": {"id": "e", "name": "me"}}
            bucket = {"id": "b", "name": variables["name"], "project": project}
            return {"data": {"upsertBucket": {"bucket": bucket, "inserted": True}}}
        if name == "CreateRunFiles":
            files = [
                {"name": name, "uploadUrl": f"{self.address}/upload"} for name in variables["files"]
            ]
            created = {"runID": "b", "uploadHeaders": [], "files": files}
            return {"data": {"createRunFiles": created}}
        return {"data": {}}

"""A server that takes what LangSmith's client sends, and gives it back as the client's runs."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_core.tracers import LangChainTracer
from langsmith import Client
from langsmith.schemas import Run


class RunStore:
    """The runs of one server, as they were posted and patched."""

    def __init__(self) -> None:
        self._fields: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def merge(self, run_id: str, fields: dict[str, Any]) -> None:
        with self._lock:
            known = self._fields.setdefault(run_id, {"id": run_id})
            known.update({name: value for name, value in fields.items() if value is not None})

    def runs(self) -> list[Run]:
        """Return the runs in the order of `Client.list_runs`: newest first."""
        found = sorted(self._fields.values(), key=lambda fields: fields["dotted_order"])
        return [Run(**{**fields, "session_id": None}) for fields in reversed(found)]


@contextmanager
def langsmith_tracer() -> Iterator[tuple[LangChainTracer, RunStore]]:
    """Give a tracer that sends to a server of its own, and what that server has got."""
    store = RunStore()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fields = self._body()
            self._done(lambda: store.merge(str(fields["id"]), fields))

        def do_PATCH(self) -> None:
            fields = self._body()
            run_id = self.path.rpartition("/")[2]
            self._done(lambda: store.merge(run_id, fields))

        def do_GET(self) -> None:
            self._done(lambda: None)

        def _body(self) -> dict[str, Any]:
            read: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return read

        def _done(self, act: Any) -> None:
            act()
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    client = Client(api_url=url, api_key="none", auto_batch_tracing=False)
    try:
        yield LangChainTracer(client=client), store
    finally:
        server.shutdown()
        server.server_close()

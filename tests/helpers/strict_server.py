"""A local server that speaks six chat APIs and refuses what their providers refuse."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from helpers.order_rules import broken_rule
from helpers.replies import APIS, Reply

_PATHS = {
    "/openai/v1/chat/completions": "openai-chat",
    "/openai/v1/responses": "openai-responses",
    "/anthropic/v1/messages": "anthropic",
    "/mistral/v1/chat/completions": "mistral",
}


@dataclass
class StrictServer:
    """A running server: what it was asked, what it refused, and what it says next."""

    url: str = ""
    accepted: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests that kept every rule, oldest first."""

    refused: list[str] = field(default_factory=list)
    """Ids of the rules that requests broke, oldest first."""

    streamed: int = 0
    """How many replies went out as a stream."""

    script: Sequence[Reply] = ()
    """Replies to accepted requests, in order."""

    _lock: Lock = field(default_factory=Lock)

    def reset(self, script: Sequence[Reply] = ()) -> None:
        """Forget all requests, and play back `script` from its start."""
        with self._lock:
            self.accepted, self.refused, self.streamed, self.script = [], [], 0, script

    def answer(self, api: str, request: dict[str, Any]) -> tuple[int, Any]:
        """Return the status, and the reply to play back or the body of the refusal."""
        with self._lock:
            if (broken := broken_rule(api, request)) is not None:
                rule, words = broken
                self.refused.append(rule.id)
                return rule.status, APIS[api].refusal(rule, words)
            if len(self.accepted) == len(self.script):
                return 500, {"error": {"message": "The script is over."}}
            self.accepted.append(request)
            return 200, self.script[len(self.accepted) - 1]


@contextmanager
def strict_server(script: Sequence[Reply] = ()) -> Iterator[StrictServer]:
    """Serve on 127.0.0.1, and play back `script`, one reply per accepted request."""
    running = StrictServer(script=script)
    handler = type("Handler", (_Handler,), {"running": running})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    running.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    running: StrictServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        api = _api_of(self.path)
        status, answer = self.running.answer(api, request)
        if not isinstance(answer, Reply):
            self._send(status, "application/json", json.dumps(answer))
        elif request.get("stream") or "streamGenerateContent" in self.path:
            self.running.streamed += 1
            self._send(status, "text/event-stream", _stream(api, answer))
        else:
            self._send(status, "application/json", json.dumps(APIS[api].whole(answer)))

    def _send(self, status: int, kind: str, text: str) -> None:
        payload = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        if status >= 400:  # how AWS names an error
            self.send_header("x-amzn-ErrorType", "ValidationException")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


def _api_of(path: str) -> str:
    if path in _PATHS:
        return _PATHS[path]
    if path.startswith("/gemini/"):
        return "gemini"
    return "converse-claude" if "claude" in path else "converse-llama"


def _stream(api: str, reply: Reply) -> str:
    events = APIS[api].events
    if events is None:
        msg = f"{api} is not streamed here"
        raise NotImplementedError(msg)
    lines = []
    for name, body in events(reply):
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {json.dumps(body)}", ""]
    if APIS[api].is_done_said:
        lines += ["data: [DONE]", ""]
    return "\n".join([*lines, ""])

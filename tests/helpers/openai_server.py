"""A tiny server on 127.0.0.1 that speaks enough of OpenAI's chat completions for a client."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Message = dict[str, Any]


@dataclass
class ChatServer:
    """A running server, and what it was asked."""

    url: str
    requests: list[list[Message]] = field(default_factory=list)
    """The messages of each request, oldest first."""


def says(text: str) -> Message:
    """Return an assistant's message without tool calls."""
    return {"role": "assistant", "content": text}


def calls(tool: str, *, times: int = 1, **arguments: object) -> Message:
    """Return an assistant's message with `times` equal calls of `tool`."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"call-{number}", "type": "function", "function": function}
            for number in range(times)
        ],
    }


@contextmanager
def chat_server(reply: Callable[[list[Message]], Message]) -> Iterator[ChatServer]:
    """Serve chat completions: `reply` gives the assistant's message, or a dict with `error`."""
    running = ChatServer("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            running.requests.append(body["messages"])
            message = reply(body["messages"])
            answer = message if "error" in message else _completion(body["model"], message)
            payload = json.dumps(answer).encode()
            self.send_response(400 if "error" in message else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _completion(model: str, message: Message) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }

"""Ask an ASGI application without a network: one request, one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


def asked(
    app: Any, path: str, method: str = "GET", *, headers: Mapping[str, str] | None = None, form: Any = None,
    body: bytes = b"", host: str | None = HOST,
) -> Answered:  # fmt: skip
    """One request. `form`: fields of a form, sent as our own pages send them unless headers say otherwise."""
    given = {"host": host} if host is not None else {}
    if form is not None or method != "GET":
        given |= {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
        body = urlencode(form, doseq=True).encode() if form is not None else body
    given |= dict(headers or {})
    way, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": way,
        "raw_path": way.encode(), "query_string": query.encode(), "scheme": "http", "root_path": "",
        "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 5000),
        "headers": [(k.lower().encode(), v.encode()) for k, v in given.items() if v is not None],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        first = [True]

        async def receive() -> dict[str, Any]:
            if first:
                first.clear()
                return {"type": "http.request", "body": body, "more_body": False}
            await asyncio.sleep(30)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app(scope, receive, send)

    with ThreadPoolExecutor(1) as aside:  # a browser may have a loop of its own in this thread
        aside.submit(asyncio.run, run()).result()
    start = next(m for m in sent if m["type"] == "http.response.start")
    text = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
    return Answered(
        start["status"], {k.decode(): v.decode() for k, v in start["headers"]}, text.decode("utf-8", "replace")
    )

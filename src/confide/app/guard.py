"""Who may talk to the server: the browser that was given its first address, on this machine, and no page of others."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with "no-referrer" a browser would hide the origin of our own forms
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
READS = ("GET", "HEAD")
IDLE = 12 * 3600
"""Seconds without a request after which a session ends."""

OPEN = ("/static/",)
"""What needs no session: nothing of anybody's is there."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

REFUSED = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>confide</title>{head}
<link rel="stylesheet" href="/static/style.css"></head>
<body><main class="plain"><h1>{title}</h1><p class="lead">{said}</p>
{more}</main></body></html>"""
ASK = """<form method="post" action="/enter" class="mt"><input type="hidden" name="token" value="{token}">
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" required></div>
<p class="mt"><button class="btn main">Enter</button></p></form>"""


class Guard:
    """Stands before every page. `token`: opens a session once; `hosts`: the addresses by which we may be called."""

    def __init__(
        self, app: App, *, token: str, hosts: tuple[str, ...], port: int, password: str | None = None,
        idle: float = IDLE, first: str = "/",
    ) -> None:  # fmt: skip
        self.app, self.token, self.hosts, self.password, self.idle, self.first = (
            app,
            token,
            hosts,
            password,
            idle,
            first,
        )
        self.cookie = f"confide-{port}"
        self.sessions: dict[str, float] = {}
        self.tries = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        answer = self._refused(scope, headers)
        if answer is None and scope["path"] == "/enter":
            answer = await self._enter(scope, headers, receive)
        if answer is None and not scope["path"].startswith(OPEN) and not self._known(headers):
            answer = _page(403, "This page needs its first address", NO_SESSION)

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                out.setdefault("content-security-policy", POLICY)
            await send(message)

        await (self.app if answer is None else answer)(scope, receive, guarded)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        """What a foreign name of this machine, or another page's form, gets."""
        host = headers.get("host", "").lower()
        if len(headers.getlist("host")) != 1 or host not in self.hosts:
            return _page(400, "Unknown address", "confide answers under the address that it printed when it started.")
        if scope["method"] in READS:
            return None
        same = headers.get("sec-fetch-site", "same-origin") == "same-origin"
        if headers.get("origin") != f"http://{host}" or not same:
            return _page(403, "Refused", "This change was asked for by another page than confide's own.")
        return None

    async def _enter(self, scope: Scope, headers: Headers, receive: Receive) -> Response:
        """A session for whoever has the token, and the password where one is asked for. The token serves once.

        The way on is a page of ours and no redirect: a strict cookie is not sent where another page led here.
        """
        if self._known(headers):
            return RedirectResponse(self.first, 303)
        fields = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["method"] == "POST":
            fields = parse_qs((await _body(receive)).decode("utf-8", "replace"))
        given = fields.get("token", [""])[0]
        if not self.token or not hmac.compare_digest(given.encode(), self.token.encode()):
            return _page(403, "This address does not open confide", NO_SESSION)
        if self.password is not None:
            if scope["method"] != "POST":
                return _page(200, "confide", "Who may enter knows the password.", ASK.format(token=self.token))
            self.tries += 1
            if self.tries > 10 or not hmac.compare_digest(
                fields.get("password", [""])[0].encode(), self.password.encode()
            ):
                return _page(403, "Wrong password", "After ten tries confide has to be started again.")
        self.token = ""
        session = secrets.token_hex(16)
        self.sessions[session] = time.monotonic()
        more = f'<p><a class="btn main" href="{self.first}">Enter</a></p>'
        answer = _page(
            200, "confide", "The session is open.", more, f'<meta http-equiv="refresh" content="0;url={self.first}">'
        )
        answer.set_cookie(self.cookie, session, httponly=True, samesite="strict", path="/")
        return answer

    def _known(self, headers: Headers) -> bool:
        """Whether the request comes from a session that has not ended."""
        given = _cookies(headers.get("cookie", "")).get(self.cookie, "")
        now = time.monotonic()
        for session, last in [*self.sessions.items()]:
            if now - last > self.idle:
                del self.sessions[session]
            elif hmac.compare_digest(given.encode(), session.encode()):
                self.sessions[session] = now
                return True
        return False


NO_SESSION = (
    "Open the address that confide printed when it started, in the browser that you want to use; it works once. To get "
    "a new one, stop confide and start it again: every change is saved."
)


def _page(status: int, title: str, said: str, more: str = "", head: str = "") -> Response:
    return HTMLResponse(REFUSED.format(title=title, said=said, more=more, head=head), status)


def _cookies(text: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return {name: value for name, _, value in pairs}


async def _body(receive: Receive, most: int = 10_000) -> bytes:
    found = b""
    while True:
        message = await receive()
        found += bytes(message.get("body", b""))
        if len(found) > most or not message.get("more_body"):
            return found[:most]

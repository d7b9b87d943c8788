"""Start the server: on this machine only, under an address with a token that opens one session."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import confide as cf

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Options:
    """How `confide app` was called."""

    file: str = ""
    port: int = 0
    projects: Path = Path("confide-projects")
    roots: tuple[Path, ...] = ()
    address: str = "127.0.0.1"
    password: str | None = None
    memory: int = 0
    show_records: bool = False
    browser: bool = True


def serve(options: Options, say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)) -> None:
    """Serve until somebody ends it."""
    import uvicorn

    from confide.app.desk import Desk, Settings
    from confide.app.guard import Guard
    from confide.app.screens import start
    from confide.app.server import application
    from confide.app.web import Form, Wrong

    _checked(options)
    roots = tuple(r.expanduser().resolve() for r in (options.roots or (Path.cwd(),)))
    desk = Desk(Settings(options.projects.expanduser().absolute(), roots, options.memory, options.show_records))
    first = "/"
    if options.file:
        try:
            given = options.file if options.file == start.EXAMPLE else str(Path(options.file).expanduser().resolve())
            first = start.opened(desk, Form({"source": [given]}))
        except Wrong as error:
            raise cf.InputError(error.fields["source"]) from error
    listening = _socket(options.address, options.port)
    port = listening.getsockname()[1]
    token = secrets.token_hex(16)
    host = f"[{options.address}]" if ":" in options.address else options.address
    ending = threading.Event()
    guard = Guard(
        application(desk, ending.set), token=token, hosts=_hosts(options.address, port), port=port,
        password=options.password, first=first,
    )  # fmt: skip
    server = uvicorn.Server(uvicorn.Config(
        guard, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on",
        timeout_graceful_shutdown=2,
    ))  # fmt: skip
    url = f"http://{host}:{port}/enter?token={quote(token)}"
    if options.address not in LOOPBACK:
        say("confide: other machines can reach this server, and the password travels over the network unencrypted.")
    say(f"confide is at {url}\nIt works once, in one browser. End with Ctrl-C.")
    threading.Thread(target=_end, args=(ending, server), daemon=True).start()
    if options.browser:
        threading.Timer(0.5, lambda: _open(url)).start()
    with contextlib.closing(listening):
        server.run(sockets=[listening])


def _end(ending: threading.Event, server: object) -> None:
    ending.wait()
    server.should_exit = True  # type: ignore[attr-defined]


def _open(url: str) -> None:
    with contextlib.suppress(Exception):
        webbrowser.open(url)


def _checked(options: Options) -> None:
    if options.address not in LOOPBACK and not options.password:
        raise cf.InputError("Another address than this machine's own needs a password: --password-file FILE.")
    for root in options.roots:
        if not root.expanduser().is_dir():
            raise cf.InputError(f"--root {root} is no folder.")


def _hosts(address: str, port: int) -> tuple[str, ...]:
    """Names under which we may be called."""
    if address in LOOPBACK:
        return (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}")
    return (f"[{address}]:{port}" if ":" in address else f"{address}:{port}",)


def _socket(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address, port))
    except OSError as error:
        made.close()
        raise cf.InputError(
            f"Port {port} of {address} cannot be used: {error.strerror}. Leave --port out for a free one."
        ) from error
    made.listen(64)
    return made

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

import confide as cf
from confide.app.project import write

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
    browser: bool = True


def serve(options: Options, say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)) -> None:
    """Serve until somebody ends it."""
    import uvicorn

    from confide.app.desk import Desk, Settings, held
    from confide.app.guard import Guard
    from confide.app.reading import Reader, aside
    from confide.app.screens import start
    from confide.app.server import application
    from confide.app.web import Form, Wrong

    _checked(options)
    roots = tuple(r.expanduser().resolve() for r in (options.roots or (Path.cwd(),)))
    desk = Desk(Settings(options.projects.expanduser().absolute(), roots, options.memory))
    mark, reader = held(desk.settings.projects), Reader()
    aside(reader)
    first = "/"
    if options.file:
        try:
            given = options.file if options.file == start.EXAMPLE else str(Path(options.file).expanduser().resolve())
            first = start.opened(desk, Form({"source": [given]}))
        except Wrong as error:
            raise cf.InputError(error.fields["source"]) from error
    listening = sockets(options.address, options.port)
    port = listening[0].getsockname()[1]
    token, own = secrets.token_hex(16), f"{secrets.token_hex(8)}.localhost:{port}"
    hosts = _hosts(options.address, port)
    host = own if options.address in LOOPBACK else hosts[0]
    ending = threading.Event()
    guard = Guard(
        application(desk, ending.set), token=token, hosts=(host, *hosts), port=port,
        password=options.password, first=first,
    )  # fmt: skip
    server = uvicorn.Server(uvicorn.Config(
        guard, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on",
        timeout_graceful_shutdown=2,
    ))  # fmt: skip
    url, plain = (f"http://{name}/enter?token={token}" for name in (host, hosts[0]))
    if options.address not in LOOPBACK:
        say("confide: other machines can reach this server, and the password travels over the network unencrypted.")
    say(f"confide is at {url}\nIt works once, in one browser. End with Ctrl-C.")
    if plain != url:
        say(f"Where a browser does not find that name, take {plain}")
    threading.Thread(target=_end, args=(ending, server), daemon=True).start()
    if options.browser:
        threading.Timer(0.5, _open, (url, desk.settings.projects)).start()
    try:
        server.run(sockets=listening)
    finally:
        for one in listening:
            one.close()
        reader.close()
        mark.close()


def _end(ending: threading.Event, server: object) -> None:
    ending.wait()
    server.should_exit = True  # type: ignore[attr-defined]


def _open(url: str, folder: Path) -> None:
    """Show the address to the browser in a private file: on a command line anybody on the machine could read it."""
    path = folder / f".open-{secrets.token_hex(8)}.html"
    with contextlib.suppress(Exception):
        write(path, f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={url}"><a href="{url}">confide</a>')
        webbrowser.open(path.as_uri())
    threading.Timer(30, path.unlink, kwargs={"missing_ok": True}).start()


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


def sockets(address: str, port: int) -> list[socket.socket]:
    """Where we listen: of this machine's own address both forms, so that nobody else takes the other one."""
    if address not in LOOPBACK:
        return [_socket(address, port)]
    for _ in range(20):
        first = _socket("127.0.0.1", port)
        try:
            return [first, _socket("::1", first.getsockname()[1])]
        except cf.InputError:
            if not _six():
                return [first]
            first.close()
            if port:
                raise
    raise cf.InputError("No free port was found on this machine.")


def _six() -> bool:
    """Whether this machine has the newer form of its own address at all."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


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

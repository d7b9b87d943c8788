"""Routes: pages, parts of pages, changes, jobs, files. Everything that it shows is in a project's folder already."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import confide as cf
from confide.app import script
from confide.app.desk import Desk
from confide.app.project import Moved, Project
from confide.app.render import page_html, part_html, plain_page
from confide.app.screens import SCREENS, start
from confide.app.web import Form, Made, Page, Wrong
from confide.app.worker import note_failure

HERE = Path(__file__).parent
UNBROKEN = ("write",)
"""Tasks that nobody cancels: files appear all or none."""

BODY = 4_000_000
"""Bytes of a form at most; files come another way."""

DOWNLOAD_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Of what is handed out as a file: a report is opened from where it was saved, never as a page of ours."""


def application(desk: Desk, stop: Any = None) -> Starlette:
    """The server's pages for a desk. `stop`: called when somebody ends confide from a page."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        desk.jobs.start()
        yield
        desk.jobs.close()

    p = "/p/{project}"
    routes = [
        Route("/", _page_of(start.begin)),
        Route("/browse", _page_of(start.browse)),
        Route("/projects", _posted(start.opened), methods=["POST"]),
        Route("/upload", start.upload, methods=["PUT"]),
        Route("/stop", _stop, methods=["POST"]),
        Route(f"{p}/head", _head, methods=["POST"]),
        Route(f"{p}/cancel/{{key}}", _cancel, methods=["POST"]),
        Route(f"{p}/part/{{screen}}/{{part}}", _part),
        Route(f"{p}/change/{{screen}}/{{what}}", _change, methods=["POST"]),
        Route(f"{p}/do/{{screen}}/{{what}}", _do, methods=["POST"]),
        Route(f"{p}/change/{{screen}}/{{what}}", _led_back),
        Route(f"{p}/do/{{screen}}/{{what}}", _led_back),
        Route(f"{p}/file/{{name}}", _file),
        Route(f"{p}/{{screen}}", _screen),
        Route(p, _project),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _missing, 500: _failed})
    app.state.desk, app.state.stop = desk, stop
    return app


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def _found(request: Request) -> tuple[Project, Page] | None:
    """The project and the change that an address names."""
    desk, query = _desk(request), Form.of(request.url.query)
    project = desk.project(request.path_params["project"])
    if project is None:
        return None
    change = project.change(query.whole("at")) if query.has("at") else project.current
    return None if change is None else (project, Page(desk, project, change, query))


async def _form(request: Request) -> Form:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY:
            raise Wrong.at("", "This form is larger than any that confide shows.")
    return Form.of(body.decode("utf-8", "replace"))


def _page_of(make: Any) -> Any:
    async def answer(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(make, _desk(request), Form.of(request.url.query)))

    return answer


def _posted(make: Any) -> Any:
    async def answer(request: Request) -> Response:
        form = await _form(request)
        desk = _desk(request)
        try:
            return RedirectResponse(await run_in_threadpool(make, desk, form), 303)
        except (Wrong, cf.InputError) as error:
            said = error.fields if isinstance(error, Wrong) else {"source": str(error)}
            return HTMLResponse(await run_in_threadpool(start.begin, desk, form, said), 422)

    return answer


async def _project(request: Request) -> Response:
    found = _found(request)
    return _missing(request) if found is None else RedirectResponse(found[1].url(_first(found[1])), 303)


async def _led_back(request: Request) -> Response:
    """The address of a form, asked for as a page: its screen."""
    found, name = _found(request), request.path_params["screen"]
    return _missing(request) if found is None or name not in SCREENS else RedirectResponse(found[1].url(name), 303)


def _first(page: Page) -> str:
    """The screen on which a project opens: the last one that was worked on."""
    return page.state.table.get("screen", "table") if page.state.way == "tables" else "variables"


async def _screen(request: Request) -> Response:
    found, screen = _found(request), SCREENS.get(request.path_params["screen"])
    if found is None or screen is None:
        return _missing(request)
    return await run_in_threadpool(_shown, found[1], screen)


def _shown(page: Page, screen: ModuleType, status: int = 200) -> Response:
    return HTMLResponse(page_html(page, screen), status)


async def _part(request: Request) -> Response:
    """A part of a screen: 202 while it is still on its way."""
    found, screen = _found(request), SCREENS.get(request.path_params["screen"])
    if found is None or screen is None or request.path_params["part"] not in screen.PARTS:
        return _missing(request)
    html, waiting = await run_in_threadpool(part_html, found[1], screen, request.path_params["part"])
    return HTMLResponse(html, 202 if waiting else 200)


async def _change(request: Request) -> Response:
    """A form that changes the project: the change is kept as a file of its own before anybody is told."""
    found, screen = _found(request), SCREENS.get(request.path_params["screen"])
    make = None if screen is None else screen.CHANGES.get(request.path_params["what"])
    if found is None or screen is None or make is None:
        return _missing(request)
    project, page = found
    form = await _form(request)
    return await run_in_threadpool(_changed, project, page, screen, make, form)


def _changed(project: Project, page: Page, screen: ModuleType, make: Any, form: Form) -> Response:
    base = form.whole("based_on")
    shown = project.change(base)
    if shown is None:
        return HTMLResponse(
            plain_page("Nothing was changed", "The page was made from a change that is not there."), 409
        )
    page.change = shown
    try:
        made: Made = make(page, form)
        if made.state == shown.state:
            return RedirectResponse(page.url(made.go) + made.hash, 303)
        project.add(made.state, made.what, script.last_line(made.state, shown.state), base)
    except (Wrong, cf.InputError) as error:
        page.errors = error.fields if isinstance(error, Wrong) else {"": str(error)}
        page.given = form
        return _shown(page, screen, 422)
    except Moved:
        page.errors = {"moved": "yes"}
        page.given = form
        return _shown(page, screen, 409)
    page.change = project.current
    return RedirectResponse(page.url(made.go) + made.hash, 303)


async def _do(request: Request) -> Response:
    """A form that starts something and changes nothing."""
    found, screen = _found(request), SCREENS.get(request.path_params["screen"])
    act = None if screen is None else screen.ACTIONS.get(request.path_params["what"])
    if found is None or screen is None or act is None:
        return _missing(request)
    form = await _form(request)
    page = found[1]
    try:
        return RedirectResponse(page.url(await run_in_threadpool(act, page, form)), 303)
    except (Wrong, cf.InputError) as error:
        page.errors = error.fields if isinstance(error, Wrong) else {"": str(error)}
        page.given = form
        return await run_in_threadpool(_shown, page, screen, 422)


async def _head(request: Request) -> Response:
    """Undo, redo, or go to a change."""
    found = _found(request)
    if found is None:
        return _missing(request)
    form, (project, page) = await _form(request), found
    go = form.text("go")
    if go == "undo":
        project.undo()
    elif go == "redo":
        project.redo()
    else:
        project.go(form.whole("go"))
    page.change = project.current
    screen = form.text("screen")
    return RedirectResponse(page.url(screen if screen in SCREENS else _first(page)), 303)


async def _cancel(request: Request) -> Response:
    found = _found(request)
    if found is None:
        return _missing(request)
    form, (project, page) = await _form(request), found
    desk, key = _desk(request), request.path_params["key"]
    job = desk.jobs.get(key)
    if job is not None and job.folder == project.folder and job.task not in UNBROKEN:
        await run_in_threadpool(desk.jobs.cancel, key)
    screen = form.text("screen")
    return RedirectResponse(page.url(screen if screen in SCREENS else _first(page)), 303)


async def _file(request: Request) -> Response:
    """What a project hands out as a file: its script, its study file, reports."""
    found, name = _found(request), request.path_params["name"]
    if found is None:
        return _missing(request)
    headers = {"content-security-policy": DOWNLOAD_POLICY}
    text = script.file_of(found[1].state, name)
    if text is not None:
        headers["content-disposition"] = f'attachment; filename="{name}"'
        return PlainTextResponse(text, headers=headers)
    path = script.kept_file(found[0], found[1], name)
    if path is None:
        return _missing(request)
    return FileResponse(path, filename=name, headers=headers)


async def _stop(request: Request) -> Response:
    if request.app.state.stop is not None:
        request.app.state.stop()
    said = "Start it again with confide app. Every change is saved: a project opens where you were."
    return HTMLResponse(plain_page("confide is not running any more", said))


def _missing(request: Request, error: Exception | None = None) -> Response:  # noqa: ARG001 - as Starlette calls it
    return HTMLResponse(plain_page("There is no such page", "Go back, or to the start.", home=True), 404)


def _failed(request: Request, error: Exception) -> Response:
    """Say that it is a bug; where it happened goes to the private log, never to a page."""
    note_failure(_desk(request).settings.projects, request.url.path, error)
    said = "A bug in confide. Nothing was lost: every change is saved as it is made."
    return HTMLResponse(plain_page("confide itself failed here", said, home=True), 500)

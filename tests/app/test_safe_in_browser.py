"""What a browser may do with the server: first addresses, foreign pages, uploads, names that are scripts."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlparse

import polars as pl
import pytest

from tests.helpers.app_server import Server, Visit, visiting

pytestmark = pytest.mark.slow


def opened(visit: Visit, server: Server, path: Path) -> None:
    visit.page.goto(server.origin)
    visit.page.fill("#source", str(path))
    visit.page.click("button:has-text('Open')")
    visit.wait("#facts h3, #facts .note")


def raw(server: Server, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, str]:
    """A request that no browser would make."""
    where = urlparse(server.origin)
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": where.netloc} | headers).items():
        connection.putheader(name, value)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def cookies(visit: Visit) -> str:
    return "; ".join(f"{c['name']}={c['value']}" for c in visit.page.context.cookies())


def test_a_wrong_token_host_or_origin_gets_nothing(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        assert "Open a file" in visit.text()
        cookie = cookies(visit)
        assert visit.page.evaluate("document.cookie") == ""
    with visiting(browser, server, enter=False) as stranger:
        stranger.page.goto(f"{server.origin}/enter?token={'0' * 32}")
        assert "does not open" in stranger.text()
        assert stranger.page.goto(server.origin).status == 403
        assert stranger.page.goto(server.first).status == 403  # it was used
    assert raw(server, "/", Cookie=cookie)[0] == 200
    assert raw(server, "/", Cookie=cookie, Host="evil.example")[0] == 400
    assert raw(server, "/stop", "POST", Cookie=cookie, Origin="http://evil.example")[0] == 403
    assert raw(server, "/stop", "POST", Cookie=cookie)[0] == 403
    assert raw(server, "/", Cookie=cookie)[0] == 200


def test_a_page_of_others_can_neither_read_nor_change(browser: Any, server: Server, tmp_path: Path) -> None:
    page = tmp_path / "evil.html"
    page.write_text(
        f"<form id=f method=post action='{server.origin}/stop'></form><iframe src='{server.origin}/'></iframe>"
    )
    with visiting(browser, server) as visit:
        visit.page.context.unroute_all()
        evil = visit.page.context.new_page()
        evil.goto(page.as_uri())
        read = evil.evaluate(f"fetch('{server.origin}/').then(r => r.text(), e => 'refused')")
        assert read == "refused"
        assert "Open a file" not in "".join(frame.content() for frame in evil.frames)
        evil.evaluate("document.getElementById('f').submit()")
        evil.wait_for_load_state()
        assert "Refused" in evil.inner_text("body") or "first address" in evil.inner_text("body")
        assert visit.page.goto(server.origin).status == 200


def test_names_and_values_that_are_scripts_are_words(browser: Any, server: Server) -> None:
    evil = "<script>alert(1)</script>"
    frame = pl.DataFrame({
        evil: ["a", "b"] * 60, "'\"><img src=x onerror=alert(2)>": ["</script><b>", "x"] * 60,
        "age": [*range(20, 60)] * 3, "{{ 7 * 7 }}": ["${7*7}"] * 120,
    })  # fmt: skip
    frame.write_csv(server.home / "evil <b>.csv")
    with visiting(browser, server) as visit:
        visit.page.on("dialog", lambda d: visit.console.append(f"dialog {d.message}") or d.dismiss())
        opened(visit, server, server.home / "evil <b>.csv")
        visit.page.click("text=Continue to variables")
        visit.wait("table.vars")
        assert evil in visit.text("table.vars")
        assert "{{ 7 * 7 }}" in visit.text("table.vars")
        for screen in ("risk", "protect", "compare", "release", "history"):
            visit.page.goto(visit.page.url.rpartition("/")[0] + f"/{screen}")
        assert visit.console == []
        assert visit.outside == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("broken.parquet", b"PAR1 this is no parquet"), ("broken.sav", b"$FL2"), ("empty.csv", b"")],
)  # fmt: skip
def test_a_broken_file_gets_a_sentence(browser: Any, server: Server, name: str, content: bytes) -> None:
    (server.home / name).write_bytes(content)
    with visiting(browser, server) as visit:
        opened(visit, server, server.home / name)
        visit.wait("text=could not be computed")
        said = visit.text("#facts .note")
        assert "Traceback" not in said
        assert "confide itself failed" not in said


def test_an_upload_is_streamed_to_a_private_folder(browser: Any, server: Server, heads: Path) -> None:
    with visiting(browser, server) as visit:
        visit.page.set_input_files("#sent", str(heads))
        visit.wait("text=Continue to variables")
        assert "1,500 rows" in visit.text()
        project = server.projects / visit.page.url.split("/")[-2]
    assert (project / "sent.csv").read_bytes() == heads.read_bytes()
    assert (project / "sent.csv").stat().st_mode & 0o777 == 0o600
    assert not [*(server.projects / ".uploads").iterdir()]


def test_an_upload_of_another_kind_is_refused(browser: Any, server: Server, tmp_path: Path) -> None:
    (tmp_path / "notes.exe").write_bytes(b"MZ")
    with visiting(browser, server) as visit:
        visit.page.set_input_files("#sent", str(tmp_path / "notes.exe"))
        visit.page.wait_for_selector("[data-told]:not([hidden])")
        assert "This format is not read" in visit.text("[data-told]")


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "nothing.csv", "", "heads.csv\0.csv", "link.csv"])
def test_only_files_below_the_named_folders_are_opened(browser: Any, server: Server, path: str) -> None:
    link = server.home / "link.csv"
    if path == "link.csv" and not link.is_symlink():
        link.symlink_to("/etc/passwd")
    before = len([*server.projects.glob("*")])
    with visiting(browser, server) as visit:
        status, text = raw(
            server,
            "/projects",
            "POST",
            urlencode({"source": path}).encode(),
            Cookie=cookies(visit),
            Origin=server.origin,
        )
        assert status == 422
        assert "root:" not in text
    assert len([*server.projects.glob("*")]) == before


def test_nothing_is_logged_and_the_server_tells_no_version(browser: Any, server: Server) -> None:
    with visiting(browser, server) as visit:
        assert raw(server, "/static/../server.py", Cookie=cookies(visit))[0] == 404
        told = visit.page.goto(server.origin)
        assert "server" not in told.headers
    assert not [line for line in server.errors if "GET" in line or "POST" in line]
    assert json.dumps(server.errors).count("Traceback") == 0

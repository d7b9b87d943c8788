"""Who may talk to the server: the session that the first address opened, on this machine, from our own pages."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from confide.app.guard import HEADERS, POLICY, Guard
from tests.helpers.asgi import HOST, ORIGIN, Answered, asked

TOKEN = "a" * 32


def guarded(**more: Any) -> Guard:
    return Guard(PlainTextResponse("inside"), token=TOKEN, hosts=(HOST, "localhost:8000"), port=8000, **more)


def cookie(answer: Answered) -> dict[str, str]:
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def entered(guard: Guard) -> dict[str, str]:
    return cookie(asked(guard, f"/enter?token={TOKEN}"))


def test_the_first_address_opens_a_session_once() -> None:
    guard = guarded()
    first = asked(guard, f"/enter?token={TOKEN}")
    assert first.status == 200
    assert 'content="0;url=/"' in first.text
    said = first.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert "max-age" not in said
    assert asked(guard, "/", headers=cookie(first)).text == "inside"
    assert asked(guard, f"/enter?token={TOKEN}").status == 403
    assert asked(guard, f"/enter?token={TOKEN}", headers=cookie(first)).status == 303  # a reload in the same browser


@pytest.mark.parametrize("token", ["", "b" * 32, TOKEN[:-1], TOKEN + "a", "é"])
def test_a_wrong_token_opens_nothing(token: str) -> None:
    guard = guarded()
    answer = asked(guard, "/enter", form={"token": token}, method="POST")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert token == "" or token not in answer.text
    assert entered(guard)


def test_without_a_session_nothing_is_shown_but_the_style() -> None:
    guard = guarded()
    assert asked(guard, "/").status == 403
    assert asked(guard, "/p/heads/variables").status == 403
    assert asked(guard, "/", headers={"cookie": "confide-8000="}).status == 403
    assert asked(guard, "/", headers={"cookie": "confide-8000=" + "0" * 32}).status == 403
    assert asked(guard, "/static/style.css").text == "inside"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.evil.example", "", None],
)
def test_a_foreign_host_is_refused_also_with_the_cookie(host: str | None) -> None:
    guard = guarded()
    inside = entered(guard)
    assert asked(guard, "/", headers=inside, host=host).status == 400
    assert asked(guard, "/static/style.css", host=host).status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": None}, {"origin": f"https://{HOST}"},
        {"origin": "http://localhost:8000"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)  # fmt: skip
def test_what_another_page_asks_to_change_is_refused(method: str, headers: dict[str, str]) -> None:
    guard = guarded()
    inside = entered(guard)
    assert asked(guard, "/x", method, headers={**inside, "sec-fetch-site": "same-origin"}).text == "inside"
    assert asked(guard, "/x", method, headers={**inside, **headers}).status == 403


def test_every_answer_has_the_strict_policy() -> None:
    guard = guarded()
    inside = entered(guard)
    for answer in (asked(guard, "/", headers=inside), asked(guard, "/"), asked(guard, "/", host="evil.example")):
        assert answer.headers["content-security-policy"] == POLICY
        assert {k: answer.headers[k] for k in HEADERS} == HEADERS
        assert not [k for k in answer.headers if k.startswith("access-control-")]
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_a_session_ends_when_nobody_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("confide.app.guard.time.monotonic", lambda: now[0])
    guard = guarded(idle=100)
    inside = entered(guard)
    now[0] = 90
    assert asked(guard, "/", headers=inside).status == 200
    now[0] = 180  # used in between
    assert asked(guard, "/", headers=inside).status == 200
    now[0] = 281
    assert asked(guard, "/", headers=inside).status == 403


def test_another_address_asks_for_a_password_and_stops_after_ten_tries() -> None:
    guard = guarded(password="correct horse")
    assert 'type="password"' in asked(guard, f"/enter?token={TOKEN}").text
    wrong = {"token": TOKEN, "password": "battery staple"}
    assert asked(guard, "/enter", "POST", form=wrong).status == 403
    assert "set-cookie" in asked(guard, "/enter", "POST", form={**wrong, "password": "correct horse"}).headers
    tired = guarded(password="correct horse")
    for _ in range(11):
        asked(tired, "/enter", "POST", form=wrong)
    assert asked(tired, "/enter", "POST", form={**wrong, "password": "correct horse"}).status == 403


def test_a_post_to_enter_from_elsewhere_is_refused_before_the_token_is_looked_at() -> None:
    guard = guarded()
    assert asked(guard, "/enter", "POST", form={"token": TOKEN}, headers={"origin": ORIGIN + ".evil"}).status == 403
    assert entered(guard)

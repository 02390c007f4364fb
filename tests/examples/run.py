#!/usr/bin/env python3
"""run.py NAME PROGRAM: starts an example on a free port and checks what it answers."""

import http.client
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess  # noqa: E402

SECONDS_MAX = 20


def ask(port, method, target, body=None, media="application/json"):
    """(status, fields, body)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
    try:
        data = json.dumps(body) if media == "application/json" and body is not None else body
        connection.request(method, target, data, {"Content-Type": media} if data is not None else {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def json_api(port):
    status, fields, body = ask(port, "POST", "/notes", {"title": "milk"})
    expect((status, fields["Location"]), (201, "/notes/1"), "POST /notes")
    expect(json.loads(body), {"id": 1, "title": "milk", "body": "", "tags": []}, "POST /notes")
    expect(ask(port, "PUT", "/notes/1", {"title": "tea", "tags": ["hot"]})[0], 200, "PUT /notes/1")
    expect(json.loads(ask(port, "GET", "/notes/1")[2])["title"], "tea", "GET /notes/1")
    expect(len(json.loads(ask(port, "GET", "/notes?limit=5")[2])), 1, "GET /notes")
    expect(ask(port, "GET", "/notes?limit=0")[0], 400, "GET /notes?limit=0")
    expect(ask(port, "POST", "/notes", {"title": ""})[0], 422, "POST /notes without a title")
    expect(ask(port, "DELETE", "/notes/1")[0], 204, "DELETE /notes/1")
    expect(ask(port, "GET", "/notes/1")[0], 404, "GET /notes/1 afterwards")


def validation(port):
    good = {
        "mail": "a@example.org",
        "phone": "+49 123 456",
        "room": "Single",
        "from": "2026-02-28",
        "until": "2026-03-01",
        "guests": [{"name": "ada"}],
    }
    status, _, body = ask(port, "POST", "/bookings", good)
    expect((status, json.loads(body)), (201, {"nights": 1, "guests": 1}), "a good booking")
    bad = good | {"mail": "x", "phone": "?", "guests": [], "site": "javascript:alert(1)", "wishes": ["a", "a"]}
    status, fields, body = ask(port, "POST", "/bookings", bad)
    expect((status, fields["Content-Type"]), (422, "application/problem+json"), "a bad booking")
    pointers = {error["pointer"] for error in json.loads(body)["errors"]}
    expect(pointers, {"/mail", "/phone", "/guests", "/site", "/wishes"}, "what is wrong with it")
    crossed = good | {"until": "2026-02-28", "guests": [{"name": "a"}, {"name": "b"}]}
    pointers = {error["pointer"] for error in json.loads(ask(port, "POST", "/bookings", crossed)[2])["errors"]}
    expect(pointers, {"/until", "/room"}, "what is wrong across members")
    expect(ask(port, "GET", "/search?guests=13")[0], 400, "a query beyond its range")
    form = "application/x-www-form-urlencoded"
    expect(json.loads(ask(port, "POST", "/search", "guests=2&room=Suite", form)[2]), {"guests": 2, "room": "Suite"}, "a form")
    expect(ask(port, "POST", "/search", "guests=x", form)[0], 422, "a bad form")


def sse(port):
    expect(b"EventSource" in ask(port, "GET", "/")[2], True, "the page")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
    connection.request("GET", "/ticks?every_ms=10", headers={"Last-Event-ID": "6"})
    answer = connection.getresponse()
    expect(answer.headers["Content-Type"], "text/event-stream", "GET /ticks")
    lines = [answer.readline().decode() for _ in range(8)]
    wanted = []
    for number in (7, 8):
        wanted += ["event: tick\n", f"id: {number}\n", f'data: {{"number":{number},"text":"tick"}}\n', "\n"]
    expect(lines, wanted, "the events")
    connection.close()


def upload(port):
    def form(*parts):
        lines = []
        for disposition, content in parts:
            lines.append(b"--b\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + content + b"\r\n")
        return b"".join(lines) + b"--b--\r\n"

    media = "multipart/form-data; boundary=b"
    expect(b'enctype="multipart/form-data"' in ask(port, "GET", "/")[2], True, "the page")
    content = bytes(range(256)) * 4096
    body = form((b'name="a"', b"text"), (b'name="f"; filename="../x.bin"', content))
    status, _, answer = ask(port, "POST", "/files", body, media)
    expect(status, 200, "POST /files")
    stored = json.loads(answer)
    expect([(each["field"], each["name"], each["size"]) for each in stored], [("f", "x.bin", len(content))], "what was stored")
    path = pathlib.Path(stored[0]["path"])
    try:
        expect(path.read_bytes() == content, True, "the file's content")
    finally:
        path.unlink()
    expect(ask(port, "POST", "/files", body[:-9], media)[0], 400, "a body that is cut off")
    expect(ask(port, "POST", "/files", "{}")[0], 415, "a body that is no form")
    profile = form((b'name="name"', b"ada"), (b'name="picture"; filename="p.png"', b"12345"))
    expect(ask(port, "POST", "/profile", profile, media)[2], b"ada: 5 bytes", "POST /profile")
    expect(ask(port, "POST", "/profile", form((b'name="name"', b"")), media)[0], 422, "a profile without a name")


def openapi(port):
    document = json.loads(ask(port, "GET", "/docs/openapi.json")[2])
    expect((document["openapi"], document["info"]["title"]), ("3.1.1", "Orders"), "the document")
    expect(sorted(document["paths"]), ["/orders", "/orders/{id}"], "its paths")
    status, fields, page = ask(port, "GET", "/docs")
    expect((status, fields["Content-Type"], b"Orders" in page), (200, "text/html; charset=utf-8", True), "the page")
    order = {"customer": "a@example.org", "items": ["tea-17"], "payment": {"type": "Transfer", "iban": "DE12345"}}
    expect(ask(port, "POST", "/orders", order)[0], 201, "POST /orders")
    expect(json.loads(ask(port, "GET", "/orders/1")[2])["progress"], "Open", "GET /orders/1")


def auth(port):
    def send(method, target, fields, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_MAX)
        try:
            connection.request(method, target, body, fields)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    form = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    _, fields, page = send("GET", "/", {})
    cookie = fields["Set-Cookie"].split(";")[0]
    token = re.search(r"name=csrf value=([\w-]+)", page)[1]
    body = f"name=ada&password=secret&csrf={token}"
    expect(send("POST", "/login", form, body)[0], 403, "a login without its session")
    form["Cookie"] = cookie
    expect(send("POST", "/login", form, "name=ada&password=secret")[0], 403, "a login without its token")
    expect(send("POST", "/login", form, body.replace("secret", "x"))[0], 401, "a wrong password")
    expect(send("POST", "/login", form | {"Sec-Fetch-Site": "cross-site"}, body)[0], 403, "a login from another site")
    status, fields, _ = send("POST", "/login", form, body)
    expect((status, fields["Location"]), (303, "/"), "a login")
    after = fields["Set-Cookie"].split(";")[0]
    expect(after != cookie, True, "the session has a new id")
    expect("Hello ada" in send("GET", "/", {"Cookie": after})[2], True, "the page behind the login")
    expect(send("POST", "/logout", {"Cookie": after, "Sec-Fetch-Site": "same-origin"})[0], 303, "a logout")
    expect("Hello" in send("GET", "/", {"Cookie": after})[2], False, "the page afterwards")
    expect(send("POST", "/token", {})[0], 401, "a token without a password")
    status, _, token = send("POST", "/token", {"Authorization": "Basic YWRhOnNlY3JldA=="})
    expect(status, 200, "a token")
    expect(send("GET", "/api/me", {"Authorization": "Bearer " + token})[2], "you are ada", "the API")
    expect(send("GET", "/api/me", {"Authorization": "Bearer " + token[:-2]})[0], 401, "a token that was cut")
    expect(send("GET", "/api/me", {})[0], 401, "the API without a token")


def main():
    name, program = sys.argv[1:]
    # Programs say on stderr where they listen.
    command = ["/bin/sh", "-c", 'exec "$0" "$@" 2>&1', program, "http://127.0.0.1:0"]
    until = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")
    with ServerProcess(command, until) as server:
        examples = {"json_api": json_api, "validation": validation, "sse": sse, "upload": upload, "openapi": openapi, "auth": auth}
        examples[name](int(server.found[1]))
        return server.stop()


if __name__ == "__main__":
    sys.exit(main())

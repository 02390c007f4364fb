#!/usr/bin/env python3
"""run.py SHOWCASE: starts the showcase on a free port and checks everything that its page relies on.

Passes when each URL of the printed table answers as its feature says, when the page finds a piece of source for each
of its panels and names only routes that exist, when the counters count, when a client that leaves is noticed, and when
SIGINT lets an open request finish and ends the program with status 0.
"""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess, check_command_line  # noqa: E402

ANSWER_SECONDS_MAX = 20
ROW = re.compile(r"^  (GET|POST|DELETE) +http://127\.0\.0\.1:(\d+)(\S+)  ", re.MULTILINE)
MIB = 1 << 20
TABLE_END = re.compile(rb"Ctrl-C")
# Wrong flags are refused before anything is opened.
COMMAND_LINES = (
    (["--help"], 0),
    (["--port"], 2),
    (["--port", "70000"], 2),
    (["--loops", "0"], 2),
    (["x"], 2),
    (["--listen", "ftp://x"], 1),
)


def fail(message):
    sys.exit(f"showcase: {message}")


def expect(what, found, wanted):
    if found != wanted:
        fail(f"{what}: {found!r}, expected {wanted!r}")


class Client:
    """One request on a connection of its own."""

    def __init__(self, port):
        self.port = port

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS_MAX)

    def ask(self, method, target, body=None, **fields):
        connection = self.connect()
        try:
            connection.request(method, target, body, fields)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def get(self, target, **fields):
        return self.ask("GET", target, **fields)

    def live(self):
        return json.loads(self.get("/live")[2])

    def wait_for(self, name, value):
        """Until a counter has reached a value."""
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        while self.live()[name] < value:
            if time.monotonic() > deadline:
                fail(f"{name} did not reach {value}: {self.live()}")
            time.sleep(0.01)


def check_table(client, rows):
    """Each URL as it stands there."""
    wanted = {
        ("GET", "/nothing"): 404,
        ("GET", "/crash"): 500,
        ("DELETE", "/hello"): 405,
        ("GET", "/chat/lobby"): 426,
    }
    for method, _, target in rows:
        status, headers, text = client.ask(method, target, "tea" if method == "POST" else None)
        expect(f"{method} {target}", status, wanted.pop((method, target), 200))
        expect(f"middleware on {target}", headers["X-Content-Type-Options"], "nosniff")
        if not text:
            fail(f"{method} {target}: empty")
    expect("rows that are missing", wanted, {})


def check_answers(client):
    """What the features say about themselves."""
    texts = {
        "/hello": "hello, world\n",
        "/users/7": "user number 7\n",
        "/search": "about everything, at most 20\n",
        "/search?q=green+tea&limit=5&exact&tag=a&tag=b": "exactly green tea, at most 5\ntagged a\ntagged b\n",
        "/slow?ms=1": "waited 1 ms\n",
        "/stream?count=3&pause_ms=1": "line 1\nline 2\nline 3\n",
    }
    for target, text in texts.items():
        expect(target, client.get(target)[2], text)
    for target, part in (("/users/ada", "id"), ("/users/70000", "65535"), ("/search?limit=x&exact=y", "exact")):
        status, _, text = client.get(target)
        expect(target, (status, part in text), (400, True))
    expect("echo", client.ask("POST", "/echo", "schön".encode())[2], "schön")
    status, _, text = client.ask("POST", "/echo", "x" * 2000)
    expect("echo of too much", (status, "body_bytes_max = 1000" in text), (413, True))
    status, headers, _ = client.ask("DELETE", "/hello")
    expect("405", (status, headers["Allow"]), (405, "GET, HEAD, OPTIONS"))
    status, headers, text = client.get("/crash")
    expect("500", (status, "error id " in text, "log" in text), (500, True, False))
    status, headers, text = client.get("/nothing", Accept="text/html")
    expect("404 for a browser", (status, headers.get_content_type(), "404" in text), (404, "text/html", True))


def check_upload(client):
    expect("upload", client.ask("POST", "/upload", b"x" * (3 * MIB))[2], f"received {3 * MIB} bytes\n")
    expect("upload in chunks", client.ask("POST", "/upload", iter([b"x" * MIB] * 2))[2], f"received {2 * MIB} bytes\n")
    if client.live()["upload_bytes"] < 5 * MIB:
        fail("uploads are not counted")
    # A length beyond the limit is refused before a byte of the body was sent.
    connection = client.connect()
    connection.putrequest("POST", "/upload")
    connection.putheader("Content-Length", str(48 * MIB))
    connection.endheaders()
    response = connection.getresponse()
    expect("upload of too much", (response.status, str(32 * MIB) in response.read().decode()), (413, True))
    connection.close()


def check_stream(client):
    """The first line comes before the last one was made."""
    connection = client.connect()
    connection.request("GET", "/stream?count=2&pause_ms=60000")
    response = connection.getresponse()
    expect("first line", response.readline(), b"line 1\n")
    connection.close()


def check_leaving(client):
    """A handler that waits is told when its client leaves, and when its time is over it is not that."""
    left = client.live()["left"]
    with socket.create_connection(("127.0.0.1", client.port), ANSWER_SECONDS_MAX) as connection:
        connection.sendall(b"GET /slow?ms=9000 HTTP/1.1\r\nHost: a\r\n\r\n")
        client.wait_for("waiting", 1)
    client.wait_for("left", left + 1)
    expect("waiting", client.live()["waiting"], 0)


def check_counters(client):
    before = client.live()
    for _ in range(5):
        client.get("/hello")
    after = client.live()
    for name in ("requests", "connections_opened"):
        if after[name] < before[name] + 6:
            fail(f"{name} went from {before[name]} to {after[name]} in 6 requests")


def check_page(client):
    """The page, its files, its source and its targets."""
    status, headers, page = client.get("/")
    expect("page", (status, headers.get_content_type()), (200, "text/html"))
    if re.search(r"(?:src|href)=\"(?:https?:)?//", page):
        fail("the page loads something from elsewhere")
    for name, kind in (("style.css", "text/css"), ("page.js", "text/javascript"), ("favicon.svg", "image/svg+xml")):
        status, headers, _ = client.get(f"/{name}")
        expect(name, (status, headers.get_content_type()), (200, kind))
    source = client.get("/routes.cc")[2]
    for panel in re.findall(r'<section class="panel[^"]*" id="(\w+)"', page):
        if f"// [{panel}]\n" not in source:
            fail(f"the source has no block [{panel}]")
    for target in re.findall(r'data-(?:get|stream)="([^"]+)"', page):
        target = target.replace("&amp;", "&").replace("/stream?", "/stream?count=1&")
        if target not in ("/nothing",) and client.get(target)[0] == 404:
            fail(f"the page asks for {target}, which is not there")
    limits = json.loads(client.get("/limits")[2])
    expect("limits", [limit["value"] for limit in limits if limit["name"] == "header_ms"], [10_000])


def check_end(client, server):
    """SIGINT: the open request is answered, then the program ends."""
    connection = client.connect()
    connection.request("GET", "/slow?ms=500")
    client.wait_for("waiting", 1)
    server.send_signal(signal.SIGINT)
    response = connection.getresponse()
    expect("request while draining", (response.status, response.read()), (200, b"waited 500 ms\n"))
    expect("status at the end", server.wait(), 0)


def check_tls(program):
    """Without a certificate one is made, and each request is told by what protocol it came."""
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "XDG_STATE_HOME": state}
        with ServerProcess([program, "--listen", "https://127.0.0.1:0", "--loops", "1"], TABLE_END, environment) as server:
            port = int(re.search(rb"https://127\.0\.0\.1:(\d+)/", server.printed)[1])
            trusted = ssl.create_default_context(cafile=f"{state}/violet/localhost.pem")
            with urllib.request.urlopen(f"https://localhost:{port}/connection", context=trusted, timeout=10) as answer:
                text = answer.read().decode()
            if "HTTP/1.1 over TLSv1.3" not in text:
                fail(f"/connection says {text!r}")
            expect("status at the end", server.stop(), 0)


def main():
    program = sys.argv[1]
    check_command_line(program, COMMAND_LINES, fail)
    with ServerProcess([program, "--port", "0", "--loops", "2"], TABLE_END) as server:
        rows = ROW.findall(server.printed.decode())
        if len(rows) < 10:
            fail(f"only {len(rows)} rows in the table")
        client = Client(int(rows[0][1]))
        check_table(client, rows)
        for check in (check_page, check_answers, check_upload, check_stream, check_leaving, check_counters):
            check(client)
        check_end(client, server)
    check_tls(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())

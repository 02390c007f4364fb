#!/usr/bin/env python3
"""run.py VIOLET FILES SITE: `violet serve` and the example `files`, as a user starts them.

Passes when both serve a folder, answer conditions and ranges, follow a change, show or do not show a folder as their
flags say, refuse what lies outside, and end with status 0 when they are asked to.
"""

import http.client
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess, check_command_line  # noqa: E402

PLACE = re.compile(rb"http://127\.0\.0\.1:(\d+)")
COMMAND_LINES = (
    (["serve", "--help"], 0),
    (["serve", "--listen"], 2),
    (["serve", "--loops", "0"], 2),
    (["serve", "--nonsense"], 2),
    (["serve", "a", "b"], 2),
    (["serve", "/nonexistent/folder"], 1),
)


def ask(port, target, method="GET", **fields):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, target, headers={name.replace("_", "-"): value for name, value in fields.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def check_site(port, site):
    style = (site / "style.css").read_bytes()
    status, fields, body = ask(port, "/style.css")
    expect("style.css", (status, body), (200, style))
    expect("its type", fields["Content-Type"], "text/css; charset=utf-8")
    expect("the same again", ask(port, "/style.css", If_None_Match=fields["ETag"])[0], 304)
    status, _, body = ask(port, "/style.css", Range="bytes=2-5")
    expect("a range", (status, body), (206, style[2:6]))
    expect("HEAD", ask(port, "/style.css", "HEAD")[2], b"")
    expect("the index", ask(port, "/")[2], (site / "index.html").read_bytes())
    expect("a folder", ask(port, "/sub")[0], 301)
    expect("what lies outside", ask(port, "/../outside")[0], 404)
    (site / "style.css").write_bytes(b"changed")
    expect("a changed file", ask(port, "/style.css")[2], b"changed")
    (site / "style.css").write_bytes(style)


def main():
    violet, example, original = sys.argv[1:]
    check_command_line(violet, COMMAND_LINES, sys.exit)
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site"
        shutil.copytree(original, site)
        (site / "sub").mkdir()
        (site / "sub" / "<b>&.txt").write_text("x")
        serve = [violet, "serve", "--listen", "http://127.0.0.1:0", "--loops", "2", str(site)]
        for flags, listed in (([], True), (["--no-listing"], False), (["--events"], True)):
            with ServerProcess([*serve, *flags], PLACE) as server:
                port = int(server.found[1])
                if "--events" not in flags:
                    check_site(port, site)
                status, _, body = ask(port, "/sub/")
                expect(f"the page of a folder with {flags}", status, 200 if listed else 404)
                expect("its names", b"&lt;b&gt;&amp;.txt" in body, listed)
                expect("an exit status", server.stop(), 0)
        with ServerProcess([example, str(site), "http://127.0.0.1:0"], PLACE) as server:
            port = int(server.found[1])
            check_site(port, site)
            expect("its page of a 404", ask(port, "/none")[2], (site / "404.html").read_bytes())
            expect("its counters", b"files in memory" in ask(port, "/stats")[2], True)
            expect("an exit status", server.stop(), 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())

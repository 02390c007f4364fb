#!/usr/bin/env python3
"""cors.py CORS_APP CHROMIUM: a page in a browser asks another origin.

Passes when the browser lets the page read what cors() allows (a preflight for a method and a field, an exposed field, an
error, cookies) and keeps from it what is not allowed; and when the policy of security_headers keeps inline scripts from
running.
"""

import http.server
import json
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from files import Reports, ServerProcess, expect, load  # noqa: E402

PLACES = re.compile(rb"pages (\S+) api (\S+)\n")


def main():
    app, chromium = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        reports = http.server.HTTPServer(("127.0.0.1", 0), Reports)
        with ServerProcess([app], PLACES) as server:
            pages, api = (text.decode() for text in server.found.groups())
            url = f"{pages}/#{api},http://127.0.0.1:{reports.server_port}"
            report = load(chromium, url, f"{folder}/profile", reports)
            expect("what is allowed, by a preflight", report["put"] == [200, "mine", "shown"], report)
            expect("a field that is not allowed", report["header"] == "TypeError", report)
            expect("an error can be read", report["error"][0] == 418, report)
            first, second, without = report["cookie"]
            expect("cookies go with credentials", [first[1], second[1]] == ["none", "yes"], report)
            expect("and not without", without[1] == "none", report)
            expect("the policy keeps inline scripts out", report["title"] == "CORS", report)
            expect("the exit status", server.stop() == 0, report)
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""files.py VIOLET CHROMIUM: a browser loads a page from `violet serve`.

Passes when the browser takes the compressed style sheet, asks again by its tag and gets a 304 (it has received less
than the file then), seeks in a sound by ranges, and gets the part it asks for.
"""

import base64
import gzip
import http.server
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess  # noqa: E402

PLACE = re.compile(rb"http://127\.0\.0\.1:(\d+)")
SECONDS = 120  # of the sound
RATE = 8000
PAGE_SECONDS_MAX = 100

PAGE = """<!doctype html>
<meta charset="utf-8">
<link rel="stylesheet" href="style.css">
<body>
<script type="module">
const report = { colour: getComputedStyle(document.body).color };
const sizes = () => performance.getEntriesByType("resource").filter((entry) => entry.name.endsWith("style.css"))
  .map((entry) => [entry.transferSize, entry.encodedBodySize, entry.decodedBodySize]);
const again = await fetch("style.css", { cache: "no-cache" });
report.again = [again.status, (await again.text()).length];
report.sizes = sizes();
const part = await fetch("sound.wav", { headers: { Range: "bytes=0-3" }, cache: "no-store" });
report.part = [part.status, await part.text()];
const sound = new Audio("sound.wav");
sound.preload = "metadata";
await new Promise((done, failed) => { sound.onloadedmetadata = done; sound.onerror = failed; });
sound.currentTime = 100;
await new Promise((done) => { sound.onseeked = done; });
report.sound = [sound.duration, sound.currentTime, sound.seekable.length && sound.seekable.end(0)];
await fetch("http://127.0.0.1:REPORT/?" + btoa(JSON.stringify(report)), { mode: "no-cors" });
</script>
"""


class Reports(http.server.BaseHTTPRequestHandler):
    """Takes what the page has to say."""

    def do_GET(self):
        self.server.report = json.loads(base64.b64decode(self.path.partition("?")[2]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def make_site(site, report_port):
    style = ("body { color: rgb(1, 2, 3); }\n" + "/* " + "filling " * 4000 + "*/\n").encode()
    (site / "index.html").write_text(PAGE.replace("REPORT", str(report_port)))
    (site / "style.css").write_bytes(style)
    (site / "style.css.gz").write_bytes(gzip.compress(style))
    data = bytes(128 for _ in range(SECONDS * RATE))
    head = b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
    head += struct.pack("<IHHIIHH", 16, 1, 1, RATE, RATE, 1, 8) + b"data" + struct.pack("<I", len(data))
    (site / "sound.wav").write_bytes(head + data)
    return len(style)


def load(chromium, url, profile, reports):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--mute-audio"]
    command += [f"--user-data-dir={profile}", "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0", url]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        reports.report = None
        reports.timeout = 1
        deadline = time.monotonic() + PAGE_SECONDS_MAX
        while reports.report is None and time.monotonic() < deadline:
            reports.handle_request()
        if reports.report is None:
            sys.exit(f"the page did not come to its end within {PAGE_SECONDS_MAX} s")
        return reports.report
    finally:
        # The browser and the processes that it has started, which are a group of their own.
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


def expect(what, is_true, report):
    if not is_true:
        sys.exit(f"{what}: {report}")


def main():
    violet, chromium = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        site = pathlib.Path(folder) / "site"
        site.mkdir()
        reports = http.server.HTTPServer(("127.0.0.1", 0), Reports)
        size = make_site(site, reports.server_port)
        command = [violet, "serve", "--listen", "http://127.0.0.1:0", "--loops", "1", str(site)]
        with ServerProcess(command, PLACE) as server:
            report = load(chromium, f"http://127.0.0.1:{int(server.found[1])}/", f"{folder}/profile", reports)
            expect("the style sheet counts", report["colour"] == "rgb(1, 2, 3)", report)
            expect("a second time it is whole", report["again"] == [200, size], report)
            first, second = report["sizes"][0], report["sizes"][-1]
            expect("it came compressed", 0 < first[1] < size == first[2], report)
            expect("and not a second time: 304", len(report["sizes"]) > 1 and second[0] < first[0], report)
            expect("a part", report["part"] == [206, "RIFF"], report)
            duration, position, seekable = report["sound"]
            expect("a seek", duration == SECONDS and position == 100 and seekable == SECONDS, report)
            expect("the exit status", server.stop() == 0, report)
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())

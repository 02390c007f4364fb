"""Chromium: a browser under test, driven through its debugging pipe.

    with Chromium("/usr/bin/chromium", folder) as browser:
        browser.open("http://127.0.0.1:8080/")
        browser.wait_for("document.querySelector('h1')")
        text = browser.evaluate("document.title")
"""

import json
import os
import select
import signal
import subprocess
import sys
import time

SECONDS_MAX = 40


class Chromium:
    def __init__(self, program, profile):
        command_in, self._command = os.pipe()
        self._answers, answers_out = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--mute-audio"]
        flags += [f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{command_in} 4>&{answers_out}'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, program, *flags],
            pass_fds=(command_in, answers_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(command_in)
        os.close(answers_out)
        self._rest = b""
        self._number = 0
        self._session = None
        self.complaints = []  # of the page: exceptions, and what its policy forbids
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The browser and the processes that it has started, which are a group of their own.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._command)
        os.close(self._answers)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._command, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _read(self, deadline):
        while b"\0" not in self._rest:
            if not select.select([self._answers], [], [], max(0, deadline - time.monotonic()))[0]:
                sys.exit(f"the browser did not answer within {SECONDS_MAX} s")
            data = os.read(self._answers, 1 << 16)
            if not data:
                sys.exit("the browser has ended")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(event["params"]["exceptionDetails"])
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["source"] in ("security", "javascript"):
            self.complaints.append(event["params"]["entry"])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, condition):
        """Until a condition holds; what it gives."""
        deadline = time.monotonic() + SECONDS_MAX
        # The page looks itself, once a frame or so.
        while not (value := self.evaluate(f"new Promise((done) => setTimeout(() => done({condition}), 20))")):
            if time.monotonic() > deadline:
                sys.exit(f"did not come true within {SECONDS_MAX} s: {condition}; {self.complaints}")
        return value

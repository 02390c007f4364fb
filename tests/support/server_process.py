"""ServerProcess: a program under test that serves, for the scripts beside the tests.

    with ServerProcess([program, "--port", "0"], until=re.compile(rb"^listening .*:(\\d+)$", re.MULTILINE)) as server:
        port = int(server.found[1])
        …
        status = server.stop()

Waits for a line of its output, ends it by signal and pid, and kills it where neither helps.
"""

import os
import select
import signal
import subprocess
import sys
import time

START_SECONDS_MAX = 10  # a second in practice; sanitizers and busy machines get more
STOP_SECONDS_MAX = 20


class ServerProcess:
    def __init__(self, command, until, environment=None):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        self.printed = b""
        try:
            self.found = self._wait_for(until)
        except BaseException:
            self._kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kill()

    def _wait_for(self, until):
        deadline = time.monotonic() + START_SECONDS_MAX
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.process.stdout], [], [], left)[0]:
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    break
                self.printed += data
                if found := until.search(self.printed):
                    return found
        status = self.process.poll()
        sys.exit(f"{self.name} did not say that it serves within {START_SECONDS_MAX} s: {self.printed!r}, status {status}")

    def _kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def has_ended(self):
        return self.process.poll() is not None

    def send_signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """The status with which it ends by itself."""
        try:
            return self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            sys.exit(f"{self.name} did not end within {STOP_SECONDS_MAX} s")

    def stop(self, number=signal.SIGTERM):
        """The same after a signal."""
        self.send_signal(number)
        return self.wait()


def check_command_line(program, cases, fail):
    """`cases`: (arguments, expected status), for command lines that are answered without serving."""
    for arguments, wanted in cases:
        done = subprocess.run([program, *arguments], capture_output=True, timeout=START_SECONDS_MAX, check=False)
        if done.returncode != wanted:
            fail(f"{os.path.basename(program)} {' '.join(arguments)}: status {done.returncode}, expected {wanted}")

#!/usr/bin/env python3
"""run.py ARENA ARENA_CHECK ARGS...: starts the benchmark entry on a free port and checks it.

Passes when arena starts within seconds without data, certificates or a database, when every check passes, and when
SIGTERM ends it with status 0.
"""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

START_SECONDS_MAX = 10  # a second in practice; sanitizers and busy machines get more
STOP_SECONDS_MAX = 15
LISTENING = re.compile(rb"^listening http://127\.0\.0\.1:(\d+)$", re.MULTILINE)


def check_command_line(arena):
    """Wrong flags are refused before anything is opened."""
    for flags, expected in ((["--help"], 0), (["--port", "1"], 2), (["--loops"], 2), (["--loops", "0"], 2), (["--h1", "x"], 2)):
        status = subprocess.run([arena, *flags], capture_output=True, timeout=START_SECONDS_MAX, check=False).returncode
        if status != expected:
            sys.exit(f"arena {' '.join(flags)}: status {status}, expected {expected}")


def wait_for_port(process):
    """Reads what arena prints until it names its HTTP/1.1 listener."""
    printed = b""
    deadline = time.monotonic() + START_SECONDS_MAX
    while (left := deadline - time.monotonic()) > 0:
        if select.select([process.stdout], [], [], left)[0]:
            data = os.read(process.stdout.fileno(), 4096)
            if not data:
                break
            printed += data
            found = LISTENING.search(printed)
            if found:
                return int(found[1])
    sys.exit(f"arena named no listener within {START_SECONDS_MAX} s; it printed {printed!r}, status {process.poll()}")


def stop(process):
    """Status 0 when it drained by itself."""
    process.send_signal(signal.SIGTERM)
    try:
        status = process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        print(f"arena did not end within {STOP_SECONDS_MAX} s of SIGTERM")
        return 1
    if status != 0:
        print(f"arena ended with status {status}")
    return status


def main():
    arena, check, *arguments = sys.argv[1:]
    check_command_line(arena)
    with tempfile.TemporaryDirectory() as empty:
        command = [arena, "--h1", "127.0.0.1:0", "--loops", "2", "--certs", empty]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            port = wait_for_port(process)
            checked = subprocess.run([sys.executable, check, f"127.0.0.1:{port}", *arguments], check=False).returncode
            if process.poll() is not None:
                sys.exit(f"arena ended by itself, status {process.returncode}")
            return checked or stop(process)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


if __name__ == "__main__":
    sys.exit(main())

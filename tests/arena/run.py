#!/usr/bin/env python3
"""run.py ARENA ARENA_CHECK MAKE_DATA ARGS...: starts the benchmark entry on a free port and checks it.

Passes when arena starts within seconds without data, certificates or a database, when every check passes with and
without certificates, and when SIGTERM ends it with status 0.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]

from arena import certificates, dataset  # noqa: E402
from server_process import ServerProcess, check_command_line  # noqa: E402

LISTENING = rb"listening http://127\.0\.0\.1:(\d+)\n"
LISTENING_TLS = rb"listening https://127\.0\.0\.1:(\d+)\n"
# Wrong flags are refused before anything is opened.
COMMAND_LINES = ((["--help"], 0), (["--port", "1"], 2), (["--loops"], 2), (["--loops", "0"], 2), (["--h1", "x"], 2))


def check_arena(flags, listening, listeners, check, arguments):
    """Status 0 when the listeners that it names pass their checks and it ends well."""
    with ServerProcess(flags, re.compile(b"^" + listening, re.MULTILINE)) as server:
        places = [f"127.0.0.1:{int(port)}" for port in server.found.groups()]
        named = [word for listener, place in zip(listeners, places, strict=True) for word in (listener, place)]
        checked = subprocess.run([sys.executable, check, *named, *arguments], check=False).returncode
        if server.has_ended:
            sys.exit(f"arena ended by itself, status {server.wait()}")
        status = server.stop()
        if status != 0:
            print(f"arena ended with status {status}")
        return checked or status


def main():
    arena, check, make_data, *arguments = sys.argv[1:]
    check_command_line(arena, COMMAND_LINES, sys.exit)
    common = [arena, "--h1", "127.0.0.1:0", "--h2c", "127.0.0.1:0", "--loops", "2"]
    cleartext = ["--h1", "--h2c"]
    with (
        tempfile.TemporaryDirectory() as certs,
        tempfile.TemporaryDirectory() as swapped,
        tempfile.TemporaryDirectory() as data,
    ):
        flags = ["--certs", certs, "--tls-check-certs", swapped, "--data", data]
        status = check_arena([*common, *flags], 2 * LISTENING, cleartext, check, ["--only", "baseline.get"])
        subprocess.run([sys.executable, make_data, data], check=True, timeout=120)
        dataset.write(pathlib.Path(data) / "dataset.json")
        arguments = ["--static", f"{data}/static", *arguments]
        status = status or check_arena([*common, *flags], 2 * LISTENING, cleartext, check, arguments)
        certificates.make(certs)
        certificates.make(swapped)
        secure = ["--h1-tls", "--h2", "--tls-check"]
        command = [*common, *flags, *[word for flag in secure for word in (flag, "127.0.0.1:0")]]
        listening = LISTENING + LISTENING_TLS + LISTENING + 2 * LISTENING_TLS
        listeners = ["--h1", "--h1-tls", "--h2c", "--h2", "--tls-check"]
        arguments = [*flags[:4], "--only", "h1_tls,h2c,h2,tls_check", *arguments]
        return status or check_arena(command, listening, listeners, check, arguments)


if __name__ == "__main__":
    sys.exit(main())

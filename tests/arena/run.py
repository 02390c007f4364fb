#!/usr/bin/env python3
"""run.py ARENA ARENA_CHECK ARGS...: starts the benchmark entry on a free port and checks it.

Passes when arena starts within seconds without data, certificates or a database, when every check passes, and when
SIGTERM ends it with status 0.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess, check_command_line  # noqa: E402

LISTENING = re.compile(rb"^listening http://127\.0\.0\.1:(\d+)$", re.MULTILINE)
# Wrong flags are refused before anything is opened.
COMMAND_LINES = ((["--help"], 0), (["--port", "1"], 2), (["--loops"], 2), (["--loops", "0"], 2), (["--h1", "x"], 2))


def main():
    arena, check, *arguments = sys.argv[1:]
    check_command_line(arena, COMMAND_LINES, sys.exit)
    with tempfile.TemporaryDirectory() as empty:
        command = [arena, "--h1", "127.0.0.1:0", "--loops", "2", "--certs", empty]
        with ServerProcess(command, LISTENING) as server:
            place = f"127.0.0.1:{int(server.found[1])}"
            checked = subprocess.run([sys.executable, check, place, *arguments], check=False).returncode
            if server.has_ended:
                sys.exit(f"arena ended by itself, status {server.wait()}")
            status = server.stop()
            if status != 0:
                print(f"arena ended with status {status}")
            return checked or status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""npm_peer.py ARENA VIOLET NODE: npm ws against our server, plain and over TLS, and our client against npm ws.

The benchmark entry echoes; `violet load --verify` is the client. Exit status 77 where npm ws is not installed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arena_echo  # noqa: E402
from server_process import ServerProcess  # noqa: E402

SCRIPT = str(pathlib.Path(__file__).with_suffix(".cjs"))
SECONDS_MAX = 60


def environment():
    """Debian's packages of Node stand where a Node from elsewhere does not look."""
    return {**os.environ, "NODE_PATH": ":".join(filter(None, ("/usr/share/nodejs", os.environ.get("NODE_PATH", ""))))}


def run(command):
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def theirs_against_ours(arena, node):
    with tempfile.TemporaryDirectory(prefix="violet-npm-peer-") as certificates:
        arena_echo.make_certificate(certificates)
        for listener, scheme in (("h1", "ws"), ("h1-tls", "wss")):
            with arena_echo.serve(arena, listener, certificates) as server:
                run([node, SCRIPT, "client", f"{scheme}://127.0.0.1:{int(server.found[1])}/ws"])


def ours_against_theirs(violet, node):
    for flag in ("--plain", "--deflate"):
        command = ["env", f"NODE_PATH={environment()['NODE_PATH']}", node, SCRIPT, "server", flag]
        with ServerProcess(command, re.compile(rb"^listening (\d+)$", re.MULTILINE)) as server:
            url = f"ws://127.0.0.1:{int(server.found[1])}/"
            for size in ("1", "125", "126", "65536", "300000"):
                load = [violet, "load", "-q", "--verify", "-c", "2", "-p", "4", "-n", "100", "-r", "20", "--size", size]
                run([*load, url])
                run([*load, "--binary", url])


def main():
    arena, violet, node = sys.argv[1:4]
    found = subprocess.run([node, "-e", "require('ws')"], env=environment(), capture_output=True, timeout=30, check=False)
    if found.returncode != 0:
        print("npm ws is not installed: tools/setup.sh build")
        sys.exit(77)
    theirs_against_ours(arena, node)
    ours_against_theirs(violet, node)
    print("npm ws agrees in both roles")


if __name__ == "__main__":
    main()

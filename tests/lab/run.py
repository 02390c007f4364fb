#!/usr/bin/env python3
"""The lab's drivers, briefly: run.py --script BENCH_DIR --build BUILD_DIR NAME

Each case is a command line and the status that it has to end with: 0 where all is well, 1 where the driver has been told
to want what cannot be.
"""

import argparse
import pathlib
import subprocess
import sys

SECONDS_MAX = 200
SOAK = ["--minutes", "0.03", "--warm", "0.5", "--rest", "0.7"]
SANITIZED = "killed_workers,killed_server,stopped,without_descriptors,bad_network"
ABSENT = 3  # something could not be tried on this machine: the test counts as skipped
CASES = {
    "connections": (
        ("connections.py", ["-n", "400", "--processes", "2", "--idle", "0", "--quick", "--mark", "1000000"], 0),
        ("connections.py", ["-n", "200", "--kind", "tls", "--processes", "1", "--idle", "0", "--quick", "--mark", "1000000"], 0),
        ("connections.py", ["-n", "200", "--kind", "h2", "--processes", "2", "--idle", "0", "--quick", "--mark", "1000000"], 0),
        ("connections.py", ["-n", "200", "--kind", "ws", "--processes", "1", "--idle", "0", "--quick", "--mark", "1000000"], 0),
        ("connections.py", ["-n", "200", "--processes", "1", "--idle", "0", "--quick", "--mark", "1"], 1),
    ),
    "soak": (
        ("soak.py", [*SOAK, "--drift", "9", "--little", "2"], 0),
        ("soak.py", ["--self-test"], 0),
    ),
    "chaos": (
        ("chaos.py", ["--scale", "1"], 0),
        ("chaos.py", ["--self-test"], 0),
    ),
    "chaos_sanitized": (("chaos.py", ["--scale", "1", "--only", SANITIZED], 0),),
}


def run(command):
    """(status, output); None for one that did not end in time. SIGTERM lets it end its servers."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            output = process.communicate(timeout=SECONDS_MAX)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            process.terminate()
        try:
            return None, process.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return None, process.communicate()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("name", choices=tuple(CASES))
    options = parser.parse_args()
    failed = absent = 0
    for script, arguments, wanted in CASES[options.name]:
        status, output = run([sys.executable, str(options.script / script), "--build", str(options.build), *arguments])
        if status == ABSENT != wanted:
            absent += 1
            print(output)
        elif status != wanted:
            failed += 1
            print(f"{script} {' '.join(arguments)}: status {status}, expected {wanted}\n{output}")
    print(f"{len(CASES[options.name])} cases, {failed} failed, {absent} not tried in full")
    return 1 if failed else ABSENT if absent else 0


if __name__ == "__main__":
    sys.exit(main())

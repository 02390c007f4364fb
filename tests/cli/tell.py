#!/usr/bin/env python3
"""tell.py VIOLET PROGRAM: what `violet openapi` and `violet routes` say of a program (examples/openapi)."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SECONDS_MAX = 60


def run(*command, status=0):
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
    if answer.returncode != status:
        sys.exit(f"{command}: status {answer.returncode}, expected {status}: {answer.stdout}{answer.stderr}")
    return answer


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def check_openapi(violet, program, folder):
    document = json.loads(run(violet, "openapi", program).stdout)
    expect(sorted(document["paths"]), ["/orders", "/orders/{id}"], "the paths")
    expect(document["info"]["title"], "Orders", "the title")
    out = folder / "document.json"
    expect(run(violet, "openapi", "-o", str(out), program).stdout, "", "what goes to a file")
    expect(json.loads(out.read_text()), document, "the file")


def check_routes(violet, program):
    lines = run(violet, "routes", program).stdout.splitlines()
    expect(lines[0].split(), ["METHOD", "PATTERN", "BODY", "TIME", "CHAIN", "SOURCE"], "the head of the table")
    post = next(line.split() for line in lines if line.startswith("POST"))
    expect(post[:7], ["POST", "/orders", "1", "MiB", "30", "s", "handler"], "a row")
    expect(pathlib.Path(post[7]).name.split(":")[0], "openapi.cc", "its line in the source")
    rows = json.loads(run(violet, "routes", "--json", program).stdout)
    expect(len(rows), len(lines) - 1, "rows")
    expect(next(row["takes_body"] for row in rows if row["method"] == "POST"), True, "a body")


def check_trouble(violet, folder):
    """Programs that are none of ours, and wrong command lines."""
    expect("is it built on violet" in run(violet, "openapi", "/bin/true", status=1).stderr, True, "another program")
    expect("cannot start" in run(violet, "routes", str(folder / "nothing"), status=1).stderr, True, "no program")
    late = run(violet, "routes", "--wait", "1", "/bin/sleep", "100", status=1).stderr
    expect("in time" in late, True, "a program that does not come to its end")
    for wrong in (["openapi"], ["openapi", "--json", "x"], ["routes", "--wait", "0", "x"], ["routes", "-o"]):
        run(violet, *wrong, status=2)
    for name in ("openapi", "routes"):
        expect("usage: violet " + name in run(violet, name, "--help").stdout, True, "--help")


def main():
    violet, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        os.environ["TMPDIR"] = place
        check_openapi(violet, program, folder)
        check_routes(violet, program)
        check_trouble(violet, folder)
        expect([path.name for path in folder.iterdir()], ["document.json"], "what is left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())

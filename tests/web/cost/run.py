#!/usr/bin/env python3
"""run.py MIDDLEWARE_COST: what a middleware that does nothing adds to a request, in instructions.

Valgrind counts two runs without and two with middleware, which differ in the number of requests alone, so that what
happens once drops out. Passes when one costs at most INSTRUCTIONS_MAX, and at least one (it has really been called).
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INSTRUCTIONS_MAX = 15
HOOKS = 8
FEW, MANY = 1_000, 3_000
TOTAL = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)


def count(program, folder, requests, hooks):
    out = pathlib.Path(folder) / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}", program, str(requests), str(hooks)]
    subprocess.run(command, check=True, timeout=100, stdout=subprocess.DEVNULL)
    return int(TOTAL.search(out.read_text())[1])


def cost_of_a_request(program, folder, hooks):
    return (count(program, folder, MANY, hooks) - count(program, folder, FEW, hooks)) / (MANY - FEW)


def main():
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind 3.19 cannot read clang's debug sections.
        program = f"{folder}/{pathlib.Path(sys.argv[1]).name}"
        subprocess.run(["objcopy", "--strip-debug", sys.argv[1], program], check=True)
        bare = cost_of_a_request(program, folder, 0)
        hooked = cost_of_a_request(program, folder, HOOKS)
        one = (hooked - bare) / HOOKS
        print(f"a request {bare:.1f} instructions, each middleware that does nothing {one:.1f} more")
        return 0 if 1 <= one <= INSTRUCTIONS_MAX else 1


if __name__ == "__main__":
    sys.exit(main() if shutil.which("valgrind") else "valgrind is not installed")

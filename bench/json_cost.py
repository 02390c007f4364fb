#!/usr/bin/env python3
"""What JSON costs by itself: user instructions a byte under callgrind, and nanoseconds, beside nlohmann's and simdjson.

    bench/json_cost.py --build build/bench                   all of it
    bench/json_cost.py --build build/bench --only write,read
    bench/json_cost.py --build build/bench --only read --profile    and which functions
    bench/json_cost.py --build build/bench --check           fails when violet's are above what they must be

Two runs of different length are counted, and the difference is taken: what starting costs is in neither. The same
text each time, so that the figures are those of warm code. Times are the best of some and mean what times mean.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import banner  # noqa: E402
from lab.count.callgrind import Callgrind  # noqa: E402
from lab.process import LabError  # noqa: E402

FEW, MANY = 4, 24  # rounds, of which the difference is taken
TIMED_ROUNDS, TIMED_RUNS = 400, 7
MUST = {"write": 4.0, "read": 6.0}  # user instructions a byte


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    if done.returncode != 0:
        raise LabError(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done


class Counted:
    """json_cost under callgrind."""

    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        with Callgrind() as callgrind:
            self.environment = callgrind.environment
        self.program = self.folder / "json_cost"
        run(["strip", "--strip-debug", "-o", str(self.program), str(program)])

    def instructions(self, arm, rounds):
        """(in all, bytes a round, simdjson's kernel)"""
        out = self.folder / f"{arm}.{rounds}"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", self.program, arm, str(rounds)]
        done = run(command, env=self.environment)
        count = re.search(r"Collected : (\d+)", done.stderr)
        words = re.match(r"(\d+) bytes, .*: (\w+)$", done.stdout)
        if not count or not words:
            raise LabError(f"{arm}: callgrind has counted nothing")
        return int(count[1]), int(words[1]), words[2]

    def per_byte(self, arm):
        few, size, kernel = self.instructions(arm, FEW)
        many, _, _ = self.instructions(arm, MANY)
        return (many - few) / (MANY - FEW) / size, size, kernel

    def profile(self, arm):
        command = ["callgrind_annotate", "--threshold=95", "--auto=no", str(self.folder / f"{arm}.{MANY}")]
        rows = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(\S.*)$", run(command).stdout, re.MULTILINE)
        return [(int(count.replace(",", "")) / MANY, re.sub(r" \[\S+\]$", "", name)) for count, name in rows]


def nanoseconds(program, arm):
    """Of a round; the best."""
    runs = [run([str(program), arm, str(TIMED_ROUNDS)]).stdout for _ in range(TIMED_RUNS)]
    return min(float(re.search(r" (\d+) ns", text)[1]) for text in runs), re.search(r": (\w+)$", runs[0])[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build directory of the bench preset")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="ARM,…")
    parser.add_argument("--profile", action="store_true", help="say which functions take the instructions")
    parser.add_argument("--check", action="store_true", help="status 1 when something of violet costs more than it must")
    options = parser.parse_args()
    program = options.build / "json_cost"
    if not program.exists():
        print("json_cost: not built; it needs libsimdjson-dev and nlohmann-json3-dev", file=sys.stderr)
        return 2
    banner.print_facts(banner.banner(options.build))
    arms = dict(line.split("\t") for line in run([str(program)]).stdout.splitlines())
    missed = False
    kernels = ("", "")
    with tempfile.TemporaryDirectory(prefix="violet-json-cost-") as folder:
        counted = Counted(program, folder)
        print(f"\n{'':<22}{'bytes':>9}{'instructions a byte':>21}{'ns a byte':>11}{'must':>6}")
        for arm, about in arms.items():
            if options.only and arm not in options.only:
                continue
            per_byte, size, counted_kernel = counted.per_byte(arm)
            spent, kernel = nanoseconds(program, arm)
            kernels = (counted_kernel, kernel)
            must = MUST.get(arm)
            missed |= must is not None and per_byte > must
            print(f"{arm:<22}{size:>9,}{per_byte:>21.2f}{spent / size:>11.3f}{must or '':>6}  {about}")
            if options.profile:
                for count, name in counted.profile(arm)[:25]:
                    print(f"{count / size:>31.2f}  {name[:120]}")
    print("\nsimdjson's kernel: {} where instructions are counted, {} where time is taken".format(*kernels))
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"json_cost: {error}", file=sys.stderr)
        sys.exit(2)

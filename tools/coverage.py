#!/usr/bin/env python3
"""Which lines the tests have run: tools/coverage.py build/coverage

    make coverage                                  builds, tests, shows
    tools/coverage.py build/coverage --lines h2    the lines of src/violet/h2 that nothing has run
    tools/coverage.py --self-test                  proves that the judgement can fail

Reads what the tests of the coverage preset have left in build/coverage/profiles. Prints the lines of each folder; where
those of a folder's parsers and sessions have run to less than 95 %, that is status 1. Their files below that are named, so
that it is seen where to look: in a small one a line or two that nothing calls are much. Status 2 when there is nothing to
read.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "violet"
LEAST = 0.95
# What reads bytes of a peer, and what keeps the order of a protocol.
STRICT = re.compile(
    r"^(h1|h2|hpack|http|ws|json|web/input|web/form)/|^server/(proxy_header|opening)|^features/files/(path|range|condition)"
)
TOO_SMALL = 5  # lines: one that is not run says nothing there


def tool(name):
    """A program of LLVM, of the compiler's version."""
    for place in (f"/usr/lib/llvm-19/bin/{name}", shutil.which(f"{name}-19"), shutil.which(name)):
        if place and os.access(place, os.X_OK):
            return place
    sys.exit(f"coverage: {name} is not installed")


def programs(build):
    found = [*build.glob("tests/**/*_test"), *build.glob("fuzz/*_fuzz"), *build.iterdir()]
    return sorted(path for path in found if path.is_file() and os.access(path, os.X_OK) and path.suffix == "")


def merge(build):
    raw = sorted((build / "profiles").glob("*.profraw"))
    if not raw:
        sys.exit(2)
    merged = build / "merged.profdata"
    command = [tool("llvm-profdata"), "merge", "--sparse", "--failure-mode=all", "-o", str(merged), *map(str, raw)]
    subprocess.run(command, check=True, timeout=600)
    return merged


def cov(build, profile, *arguments):
    objects = programs(build)
    command = [tool("llvm-cov"), *arguments, f"--instr-profile={profile}", str(objects[0])]
    for path in objects[1:]:
        command += ["--object", str(path)]
    done = subprocess.run([*command, "--sources", str(SOURCE)], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        print(done.stderr[-500:], file=sys.stderr)
        sys.exit(2)
    return done.stdout


def files_of(exported):
    """{path below src/violet: (run, lines)}"""
    found = {}
    for file in json.loads(exported)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if path.is_relative_to(SOURCE):
            lines = file["summary"]["lines"]
            found[str(path.relative_to(SOURCE))] = (lines["covered"], lines["count"])
    return found


def by_folder(files):
    folders = {}
    for path, (run, lines) in files.items():
        total = folders.setdefault(str(pathlib.Path(path).parent), [0, 0])
        total[0] += run
        total[1] += lines
    return folders


def strict_of(files):
    return {path: lines for path, lines in files.items() if STRICT.search(path)}


def short_of(counted):
    """[(path, run, lines)] of the files or folders that fall short, the worst first."""
    found = [(path, *lines) for path, lines in counted.items() if lines[1] > TOO_SMALL and lines[0] < LEAST * lines[1]]
    return sorted(found, key=lambda each: each[1] / each[2])


def print_table(files):
    folders = by_folder(files)
    print(f"{'folder':<28}{'lines':>8}{'run':>8}{'':>9}")
    for folder, (run, lines) in [*sorted(folders.items()), ("all", [sum(c) for c in zip(*folders.values(), strict=True)])]:
        print(f"{folder:<28}{lines:>8,}{run:>8,}{100 * run / max(lines, 1):>8.1f} %")


def self_test():
    good = {"h2/session.h": (95, 100), "app/app.cc": (0, 100), "ws/tiny.h": (0, TOO_SMALL)}
    judged = lambda files: short_of(by_folder(strict_of(files)))  # noqa: E731
    assert judged(good) == []
    assert judged({**good, "h2/session.h": (94, 100)}) == [("h2", 94, 100)]
    assert judged({**good, "h2/frame.h": (80, 100)}) == [("h2", 175, 200)]
    for path in ("h1/x.cc", "hpack/x.cc", "json/x.h", "ws/codec/x.cc", "server/proxy_header.cc", "web/input/x.h"):
        assert judged({path: (1, 100)}), path
    print("coverage: the judgement can fail")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--lines", metavar="FOLDER", help="show the lines below src/violet/FOLDER that were not run")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.build is None:
        parser.error("which build?")
    profile = merge(options.build)
    if options.lines:
        text = cov(options.build, profile, "show", "--show-instantiations=false")
        wanted = False
        for line in text.splitlines():
            if line.startswith(str(ROOT)):
                wanted = line.startswith(str(SOURCE / options.lines))
                if wanted:
                    print(line)
            elif wanted and re.match(r"\s*\d+\|\s*0\|", line):
                print(line)
        return 0
    files = files_of(cov(options.build, profile, "export", "--summary-only"))
    print_table(files)
    strict = strict_of(files)
    short = short_of(by_folder(strict))
    for title, found in (("low  ", short_of(strict)), ("SHORT", short)):
        for path, run, lines in found:
            print(f"{title}  src/violet/{path}: {run} of {lines} lines, {100 * run / lines:.1f} %")
    run, lines = (sum(count) for count in zip(*strict.values(), strict=True)) if strict else (0, 0)
    print(f"coverage: of parsers and sessions {100 * run / max(lines, 1):.1f} % of {lines:,} lines have run; "
          f"{len(short)} folders have less than {100 * LEAST:.0f} %")  # fmt: skip
    if not strict:
        return 2
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())

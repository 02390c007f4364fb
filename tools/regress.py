#!/usr/bin/env python3
"""Whether this tree is slower than another commit: tools/regress.py BASE

Builds BASE beside this tree, counts what a request of each shape costs in both with this tree's counters, and fails when
anything costs over 3 % more. With --timed also processor time, A B B A, which fails when it grows beyond both spreads;
that needs a machine that does nothing else.

A commit that cannot be built, a shape that this tree has lost and a reading that is missing all fail: no answer is no
good answer. Exit status 0, 1 for a loss, 2 when it could not be found out.
"""

import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lab import arms as lab_arms  # noqa: E402
from lab.count import costs, judge  # noqa: E402
from lab.load import Leg, difference, reading, there_and_back  # noqa: E402
from lab.process import LabError  # noqa: E402

LOSS_MAX = 0.03
TIMED = (
    Leg("64 connections", "get", 64),
    Leg("16 pipelined, 64 connections", "pipelined", 64, 16),
    Leg("HTTP/2, 32 connections, 32 streams", "get", 32, 32, "h2c"),
    Leg("a file of 16 KiB, 64 connections", "file16", 64),
)


def call(*command, cwd=ROOT, timeout=3600):
    done = subprocess.run(command, cwd=cwd, timeout=timeout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout.strip()


def build(tree, *targets):
    call("cmake", "--preset", "bench", cwd=tree)
    call("cmake", "--build", "build/bench", "-j", "2", "--target", *targets, cwd=tree)
    return tree / "build" / "bench"


class Checkout:
    """A commit as a tree of its own, gone afterwards."""

    def __init__(self, commit):
        self.commit = commit
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="violet-regress-"))

    def __enter__(self):
        try:
            call("git", "worktree", "add", "--detach", "--force", str(self.folder / "tree"), self.commit)
        except LabError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self.folder / "tree"

    def __exit__(self, *_):
        call("git", "worktree", "remove", "--force", str(self.folder / "tree"))
        shutil.rmtree(self.folder, ignore_errors=True)


def shapes_of(tree):
    path = tree / "bench" / "budgets.toml"
    if not path.exists():
        raise LabError(f"{path} is missing: that commit has nothing to be compared with")
    return list(tomllib.loads(path.read_text())["shapes"])


def losses(base, head):
    """[text] of everything that costs more, or has not been measured, by shape and column."""
    found = []
    for shape, before in base.items():
        for column, (_, _, nothing) in judge.COLUMNS.items():
            old, new = before.get(column), head.get(shape, {}).get(column)
            if old is None or new is None:
                found.append(f"{shape}, {column}: was not measured")
            elif new > old * (1 + LOSS_MAX) + nothing:
                found.append(f"{shape}, {column}: {old:,.2f} before, {new:,.2f} now")
    return found


def counted(base_build, head_build, names):
    base = costs.measure(head_build, names, arena=base_build / "arena")["shapes"]
    head = costs.measure(head_build, names)["shapes"]
    print(f"\n{'instructions a request':<24}{'before':>12}{'now':>12}{'':>9}")
    for name in names:
        old, new = base[name]["instructions"], head[name]["instructions"]
        print(f"{name:<24}{old:>12,.0f}{new:>12,.0f}{100 * (new / old - 1):>+8.1f} %")
    return losses(base, head)


def timed(base_build, head_build, rounds, seconds):
    arms = {}
    for name, place in (("before", base_build), ("now", head_build)):
        arms[name] = lab_arms.own_arms(place)["arena"]
        arms[name].name = name
    found = []
    for leg in TIMED:
        cpu = {name: [] for name in arms}
        for name in there_and_back(list(arms), rounds):
            cpu[name].append(reading(arms[name], head_build / "violet", leg, seconds)["server"]["cpu_us"])
        change, is_effect = difference(cpu["before"], cpu["now"])
        print(f"{leg.title}: {change:+.3f} CPU us an answer, {'beyond' if is_effect else 'within'} the spread")
        if is_effect and change > 0:
            found.append(f"{leg.title}: {change:+.3f} CPU us an answer")
    return found


def self_test():
    cost = {column: 100.0 for column in judge.COLUMNS}
    assert losses({"a": cost}, {"a": dict(cost)}) == []
    for column in judge.COLUMNS:
        assert losses({"a": cost}, {"a": {**cost, column: 104.0}}), column
        assert losses({"a": cost}, {"a": {**cost, column: None}}), column
    assert losses({"a": cost}, {})
    assert difference([1.0, 1.1], [2.0, 2.1]) == (1.0, True)
    assert not difference([1.0, 3.0], [2.0, 2.5])[1]
    print("regress: each check can fail")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", metavar="BASE", help="a commit, tag or branch")
    parser.add_argument("--timed", action="store_true", help="processor time as well")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.base:
        parser.error("what to compare with?")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Checkout(options.base) as tree:
            names = shapes_of(tree)
            base_build = build(tree, "app_arena")
            head_build = build(ROOT, "budgets", "app_violet")
            found = counted(base_build, head_build, names)
            if options.timed:
                found += timed(base_build, head_build, options.rounds, options.seconds)
    except (LabError, OSError, subprocess.SubprocessError, KeyError) as error:
        print(f"regress: {error}", file=sys.stderr)
        return 2
    print("\n" + "\n".join(f"LOSS  {text}" for text in found) if found else "\nno loss")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

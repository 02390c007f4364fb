#!/usr/bin/env python3
"""Counts what requests cost and holds it against bench/budgets.toml.

    make budgets                                         the optimised build, all shapes
    bench/budgets.py --build build/bench --only h1-get   some of them
    bench/budgets.py --build build/bench --profile       and which functions, and who copies
    bench/budgets.py --build build/bench --write         lowers budgets and adds new ones; --raise also raises them

Nothing is timed, so a busy machine does not matter. Exit status 0; 1 when something is over its budget or has none; 2
when it could not be counted.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import banner  # noqa: E402
from lab.count import costs, judge  # noqa: E402
from lab.process import LabError  # noqa: E402

BUDGETS = pathlib.Path(__file__).resolve().parent / "budgets.toml"


def only_some(budgets, names):
    """The budgets of what was measured."""
    kept = {name: values for name, values in budgets.get("shapes", {}).items() if name in names}
    return {"build": budgets.get("build"), "shapes": kept}


def report(findings):
    """Prints them; the exit status."""
    for finding in findings:
        print(f"\n{'RED' if finding.is_red else 'ask'}  {finding.text}", end="")
    red = sum(finding.is_red for finding in findings)
    print(f"\n\nbudgets: {f'{red} broken' if red else 'kept'}, {len(findings) - red} to be lowered")
    return 1 if red else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build directory of the bench preset")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="SHAPE,…", help="these shapes only")
    parser.add_argument("--profile", action="store_true", help="say where instructions and copies come from")
    parser.add_argument("--write", action="store_true", help="lower budgets and add new ones")
    parser.add_argument("--raise", dest="may_raise", action="store_true", help="with --write: raise budgets, too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write what was counted there")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write is for all shapes")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    banner.print_facts(banner.banner(options.build))
    try:
        measured = costs.measure(options.build, options.only, options.profile)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"budgets: {error}", file=sys.stderr)
        return 2
    costs.print_table(measured)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    budgets = judge.load(BUDGETS)
    if options.write:
        BUDGETS.write_text(judge.render(measured, budgets, options.may_raise))
        budgets = judge.load(BUDGETS)
    return report(judge.judge(measured, only_some(budgets, options.only) if options.only else budgets))


if __name__ == "__main__":
    sys.exit(main())

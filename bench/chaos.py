#!/usr/bin/env python3
"""What violet does in trouble: killed, stopped, without memory, descriptors or disk, in a bad network, in a wrong year.

    make lab-chaos
    bench/chaos.py --build build/bench [--scale 10] [--only stopped,bad_network]

In each case clients check every answer to the byte and send again what is safe. Passes when everything that was answered
was right, nobody waited in vain and nothing is left over. What this machine cannot do is named and does not count as
passed: status 3. The wall clock is moved by a preloaded library, since nobody may set the machine's; a bad network is a
relay of ours, since kernels without tc netem are common.
"""

import argparse
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab.chaos import cases  # noqa: E402
from lab.process import LabError  # noqa: E402


def run(lab, wanted):
    """(failed, absent)"""
    failed = absent = 0
    for case in wanted:
        began = time.monotonic()
        try:
            verdict, text = "ok", case(lab)
        except cases.Absent as missing:
            absent += 1
            verdict, text = "absent", str(missing)
        except (cases.Fault, cases.Cut, LabError, OSError) as fault:
            failed += 1
            verdict, text = "FAULT", f"{type(fault).__name__}: {fault}"
        print(f"{case.__name__:<20} {verdict:<7} {time.monotonic() - began:>6.1f} s  {text}", flush=True)
    return failed, absent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=3, help="how often, and how long (3)")
    parser.add_argument("--only", default="", help="cases, by comma: " + " ".join(case.__name__ for case in cases.CASES))
    parser.add_argument("--self-test", action="store_true", help="proves that the checks can fail")
    options = parser.parse_args()
    if options.self_test:
        return cases.self_test()
    if options.build is None:
        parser.error("--build: where the programs are")
    names = options.only.split(",") if options.only else [case.__name__ for case in cases.CASES]
    wanted = [case for case in cases.CASES if case.__name__ in names]
    if len(wanted) != len(names):
        parser.error(f"--only {options.only}: no such case")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed, absent = run(cases.Lab(options.build, options.scale), wanted)
    print(f"chaos: {len(wanted) - failed - absent} passed, {failed} failed, {absent} could not be tried here")
    return 1 if failed else 3 if absent else 0


if __name__ == "__main__":
    sys.exit(main())

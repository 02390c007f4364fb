#!/usr/bin/env python3
"""Measures violet: counters first, then time beside the limit servers and the peers that are installed.

    make bench                                   everything (about half an hour)
    make bench ARGS=--quick                      everything, briefly: shows that it works, not how fast
    make bench ARGS="--only costs,idle"          parts: costs counters time generators idle memory delay size micro
    bench/run.py --build build/bench --peer 'uws=./hello 9001|http://127.0.0.1:9001/'

docs/performance.md says what the figures mean. Exit status: 0, with --strict 1 when something missed what it must
reach, 2 when a measurement could not be made.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import arms as lab_arms  # noqa: E402
from lab import banner, counters, delay, generators, idle, memory, size, timing  # noqa: E402
from lab.count import costs  # noqa: E402
from lab.process import LabError, cores, on_core  # noqa: E402
from lab.table import Report  # noqa: E402

PARTS = ("costs", "counters", "size", "idle", "memory", "delay", "time", "generators", "micro")


def run_micro(build, is_quick):
    """The micro benchmarks, each a program of its own."""
    programs = sorted(pathlib.Path(build).glob("*_bench"))
    memory = pathlib.Path(build, "memory_server")
    for program in [*programs, *([memory] if memory.exists() else [])]:
        print(f"\n{program.name}", flush=True)
        command = on_core(cores()[0], [str(program), "--benchmark_color=false"])
        if is_quick:
            command.append("--benchmark_min_time=0.02")
        subprocess.run(command, check=True, timeout=600)


def run_costs(build, report):
    """What each shape of request costs: the table that the budgets are held against."""
    report.costs = costs.measure(build)
    costs.print_table(report.costs)


def measure(options, build, report):
    is_quick = options.quick
    both = cores()
    if both[0] == both[1]:
        print("notice: one core only: server and generator share it, times mean little")
    own = lab_arms.own_arms(build)
    peers = {} if options.no_peers else lab_arms.installed_peers()
    for text in options.peer:
        arm = lab_arms.given_peer(text)
        peers[arm.name] = arm
    if options.arms:
        wanted = options.arms.split(",")
        own = {name: arm for name, arm in own.items() if name in wanted or name == timing.REFERENCE}
        peers = {name: arm for name, arm in peers.items() if name in wanted}
    rounds, seconds = (1, 1) if is_quick else (options.rounds, options.seconds)
    held, delay_seconds = (2000, 2) if is_quick else (19000, 10)
    parts = {
        "costs": lambda: run_costs(build, report),
        "counters": lambda: counters.measure(own, build, *both, report, is_quick),
        "size": lambda: size.measure(build, report),
        "idle": lambda: idle.measure(own, build, *both, report, is_quick),
        "memory": lambda: memory.measure(own, build, report, seconds),
        "delay": lambda: delay.measure(own, build, both, report, held, options.delay_rate, delay_seconds),
        "time": lambda: timing.measure({**own, **peers}, build, both, report, rounds, seconds),
        "generators": lambda: generators.measure(own, build, both, report, rounds, seconds),
        "micro": lambda: run_micro(build, is_quick),
    }
    status = 0
    for name, part in parts.items():
        if name not in options.only:
            continue
        try:
            part()
        except (LabError, OSError, subprocess.SubprocessError) as error:
            print(f"bench: {name}: {error}", file=sys.stderr)
            status = 2
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="a build directory of the bench preset")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, by comma: " + " ".join(PARTS))
    parser.add_argument("--arms", default="", help="servers, by comma; limit_libuv always takes part")
    parser.add_argument("--no-peers", action="store_true", help="violet and the limit servers only")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND|URL", help="one more server")
    parser.add_argument("--rounds", type=int, default=3, help="there and back; at least 3 (3)")
    parser.add_argument("--seconds", type=int, default=3, help="of each reading (3)")
    parser.add_argument("--delay-rate", type=int, default=10000, help="requests a second of the delay part (10000)")
    parser.add_argument("--quick", action="store_true", help="a short run")
    parser.add_argument("--strict", action="store_true", help="status 1 when something missed its mark")
    parser.add_argument("--json", metavar="FILE", help="write everything there as well")
    parser.add_argument("--self-test", action="store_true", help="proves that what generators say is read right")
    options = parser.parse_args()
    if options.self_test:
        return generators.self_test()
    if options.build is None:
        parser.error("--build says where the programs are")
    options.only = options.only.split(",")
    for part in options.only:
        if part not in PARTS:
            parser.error(f"--only: {part} is none of {' '.join(PARTS)}")
    # A terminated run ends its servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    values = banner.banner(options.build)
    banner.print_banner(values)
    report = Report()
    try:
        status = measure(options, options.build, report)
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    missed = report.missed()
    if missed:
        print("\nmissed: " + ", ".join(missed))
    if options.json:
        found = {"banner": values, "costs": report.costs, "sections": report.as_json(), "missed": missed}
        text = json.dumps(found, indent=1)
        pathlib.Path(options.json).write_text(text + "\n")
    return status or (1 if missed and options.strict else 0)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares violet with the servers that people would use instead, on this machine, in one run.

    make peers                              installs what is missing, builds, measures, draws (half an hour)
    tools/peers.py run --build build/bench --out build/peers [--quick] [--only violet,nginx]
    tools/peers.py show --out build/peers   the table again, and the drawings
    tools/peers.py readme --out build/peers puts the table into README.md; the whole of it goes into
                                            docs/performance.md by bench/figures.py add build/peers/readings.json

Every server has one process on one core and answers the same small request; the load runs on another core: `violet
load`, which checks each answer. Servers take turns, A B C C B A, each started for its reading and proven to be the one
that listens. The limit servers (bench/limit) find where a request ends and answer, nothing else: the floor.
Peers that are not installed are left out, and that is said.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lab import arms as lab_arms  # noqa: E402
from lab import banner, timing  # noqa: E402
from lab.load import Leg, reading, spread, there_and_back  # noqa: E402
from lab.process import LabError, cores  # noqa: E402

BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
PYTHON_WITH_LIBRARIES = "/usr/bin/python3"  # the one that apt installs libraries for
LEGS = (
    Leg("64 connections", "get", 64),
    Leg("512 connections", "get", 512),
    Leg("16 pipelined, 64 connections", "pipelined", 64, 16),
    Leg("TLS, 64 connections", "get", 64, 1, "h1_tls"),
    Leg("HTTP/2 without TLS, 32 connections, 32 streams", "get", 32, 32, "h2c"),
    Leg("HTTP/2 with TLS, 32 connections, 32 streams", "get", 32, 32, "h2"),
    Leg("a file of 16 KiB, 64 connections", "file16", 64),
    Leg("a file of 100 KiB, 64 connections", "file100", 64),
    Leg("a file of 16 KiB, HTTP/2 without TLS, 32 connections, 32 streams", "file16", 32, 32, "h2c"),
    Leg("a file of 16 KiB, HTTP/2 with TLS, 32 connections, 32 streams", "file16", 32, 32, "h2"),
    Leg("JSON of 8.4 KB from objects (nginx: a file), 64 connections", "json", 64),
    Leg("WebSocket, echo of 5 bytes, 64 connections", "echo", 64),
    Leg("WebSocket, echo of 5 bytes, 16 in flight, 64 connections", "echo", 64, 16),
)
# For the drawings.
SWEEP = tuple(Leg(f"{count} connections", "get", count) for count in (1, 4, 16, 64, 256, 1024))


def measured_arms(build, only, given):
    own = lab_arms.own_arms(build)
    arms = {**own, **lab_arms.installed_peers(), **{arm.name: arm for arm in map(lab_arms.given_peer, given)}}
    arms = {("violet" if name == "arena" else name): arm for name, arm in arms.items()}
    for name, arm in arms.items():
        arm.name = name
    if only:
        arms = {name: arm for name, arm in arms.items() if name in only}
    return timing.without_broken_peers(arms, cores()[0])


def run_legs(arms, legs, build, rounds, seconds):
    """{leg: {arm: [readings]}}; a peer that cannot do a leg is left out of it, and that is said."""
    found = {}
    for leg in legs:
        kept = {name: [] for name, arm in arms.items() if arm.can(leg.shape, leg.wire)}
        for name in there_and_back(list(arms), rounds):
            if name not in kept:
                continue
            try:
                kept[name].append(reading(arms[name], build / "violet", leg, seconds))
            except (LabError, ValueError) as error:
                print(f"notice: {name} is left out of {leg.title}: {error}", flush=True)
                del kept[name]
        found[leg.title] = kept
        print(table(leg.title, kept), flush=True)
    return found


def errors_of(found):
    return sum(found["errors"].values()) + sum(found["status"][name] for name in ("4xx", "5xx", "other"))


COLUMNS = (
    ("answers/s", lambda r: r["rate"], 0),
    ("CPU us", lambda r: r["server"]["cpu_us"], 2),
    ("user", lambda r: r["server"]["user_us"], 2),
    ("system", lambda r: r["server"]["system_us"], 2),
    ("busy", lambda r: r["server"]["busy"], 2),
    ("p50 us", lambda r: r["latency_us"]["p50"], 0),
    ("p99 us", lambda r: r["latency_us"]["p99"], 0),
    ("RSS MiB", lambda r: r["server"]["resident_bytes"] / 1048576, 1),
    ("errors", errors_of, 0),
)


def cpu_spread(readings):
    values = [r["server"]["cpu_us"] for r in readings]
    return 100 * spread(values) / max(statistics.median(values), 1e-9)


def table(title, readings):
    """Markdown: medians, and how far CPU time was spread."""
    head, rows = ["", *(name for name, _, _ in COLUMNS), "spread of CPU"], []
    for name, runs in readings.items():
        cells = [f"{statistics.median(map(of, runs)):,.{digits}f}" for _, of, digits in COLUMNS]
        rows.append([name, *cells, f"{cpu_spread(runs):.0f} %"])
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return f"\n{title}, CPU microseconds an answer\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def facts_line(facts):
    return f"{facts['date']}, {facts['processor']}, {facts['kernel']}, {facts['compiler']}, commit {facts['commit']}."


def page(found):
    """What README.md shows: CPU time alone. docs/performance.md has the rest."""
    arms = list(dict.fromkeys(name for runs in found["legs"].values() for name in runs))
    lines = [["CPU microseconds an answer", *arms], ["---", *["---:"] * len(arms)]]
    for title, runs in found["legs"].items():
        of = lambda name: f"{statistics.median(r['server']['cpu_us'] for r in runs[name]):.2f}" if runs.get(name) else ""  # noqa: B023,E731
        lines.append([title, *map(of, arms)])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    head = f"One process on one core, each figure the median of {2 * found['rounds']} readings, there and back"
    return f"{head}.\n{facts_line(found['facts'])}\n\n{text}\n"


def sections(found):
    """The same for bench/figures.py, with all columns."""
    kept = []
    for title, runs in found["legs"].items():
        rows = [
            {"name": name, "values": {arm: statistics.median(map(of, got)) for arm, got in runs.items() if got},
             "digits": digits, "must": None, "verdict": ""}
            for name, of, digits in COLUMNS
        ]
        rows.append({"name": "spread of CPU, %", "values": {arm: cpu_spread(got) for arm, got in runs.items() if got},
                     "digits": 0, "must": None, "verdict": ""})
        kept.append({"title": f"Peers: {title}", "rows": rows})
    return kept


def draw(out):
    script = ROOT / "bench" / "plots.py"
    done = subprocess.run([PYTHON_WITH_LIBRARIES, str(script), str(out / "readings.json"), str(out)], timeout=120, check=False)
    if done.returncode != 0:
        print("notice: no drawings: python3-matplotlib is missing")


def run(options):
    out, build = options.out, options.build
    out.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] += f":{ROOT}/build/peers/node_modules/.bin"
    if not (build / "violet").exists():
        raise LabError(f"{build}/violet is not built")
    facts = banner.banner(build)
    facts["date"] = banner.output_of("date", "+%-d %B %Y")
    banner.print_banner(facts)
    arms = measured_arms(build, options.only, options.peer)
    rounds, seconds = (1, 0.5) if options.quick else (options.rounds, options.seconds)
    found = {"facts": facts, "rounds": rounds, "seconds": seconds}
    found["legs"] = run_legs(arms, [leg for leg in LEGS if options.legs in leg.title], build, rounds, seconds)
    found["sweep"] = {} if options.legs else run_legs(arms, SWEEP[::3] if options.quick else SWEEP, build, 1, seconds)
    found |= {"banner": facts, "sections": sections(found)}
    (out / "readings.json").write_text(json.dumps(found, indent=1) + "\n")
    if found["sweep"]:
        draw(out)


def readme(found):
    path = ROOT / "README.md"
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise LabError("README.md has no place for figures")
    path.write_text(before + BEGIN + page(found) + END + after, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "show", "readme"))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bench")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "peers")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,…", help="these servers only")
    parser.add_argument("--legs", default="", metavar="TEXT", help="those with TEXT in their title, and no sweep")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND|URL", help="a server no package has")
    parser.add_argument("--rounds", type=int, default=3, help="there and back (3)")
    parser.add_argument("--seconds", type=float, default=3, help="of each reading (3)")
    parser.add_argument("--quick", action="store_true", help="shows that it works, not how fast anything is")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.what == "run":
            run(options)
            return 0
        found = json.loads((options.out / "readings.json").read_text())
        if options.what == "readme":
            readme(found)
        else:
            print(page(found))
            if found["sweep"]:
                draw(options.out)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"peers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

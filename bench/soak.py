#!/usr/bin/env python3
"""Mixed load on the arena entry for minutes, and what it leaves behind.

    make lab-soak MINUTES=10
    bench/soak.py --build build/bench --minutes 10 [--loops 1]

Dynamic routes, static files, uploads, WebSockets, connections that come and go, clients that leave and slow ones, all at
once. Warms the server up with that for a minute, lets it rest and notes memory and descriptors; loads it for the given
time, a line a second; lets it rest and compares. Passes when no well-behaved client was served wrongly, resident memory
is within 0.2 % of what it was, descriptors are back, SIGTERM ends it with status 0, and the load's own figures agree by
Little's law (what is under way = answers a second × mean latency).
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import banner  # noqa: E402
from lab.process import LabError, Server, cores, on_core  # noqa: E402

REST_SECONDS = 5
WARM_SECONDS = 60
DRIFT_MAX = 0.002
LITTLE_MAX = 0.1
FILES = {"small.txt": 900, "page.html": 16_000, "script.js": 70_000, "picture.png": 400_000}


def describe(server):
    user, system = server.cpu_us()
    cpu = f"CPU {user / 1e6:.1f} + {system / 1e6:.1f} s"
    return f"RSS {server.rss_bytes() / 1048576:.2f} MiB, {server.descriptor_count()} descriptors, {cpu}"


def make_files(folder):
    """The data folder of the entry: files that no compression makes smaller."""
    static = pathlib.Path(folder, "static")
    static.mkdir()
    for name, size in FILES.items():
        static.joinpath(name).write_bytes(random.Random(name).randbytes(size))
    return static


def load(server, build, core, seconds, interval, seed, folder):
    """Runs the load, echoing its lines with the server's state; returns its JSON object."""
    command = [f"{build}/mixed_load", "-s", f"{seconds:g}", "-i", f"{interval:g}", "-r", str(seed)]
    command += ["-f", str(folder), server.url("")]
    result = None
    with subprocess.Popen(on_core(core, command), stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                if line.startswith("{"):
                    result = json.loads(line)
                elif server.is_running():
                    print(f"{line.rstrip()}; {describe(server)}", flush=True)
        finally:
            if process.poll() is None and result is None:
                process.kill()
    if result is None:
        raise LabError("mixed_load ended without a result")
    return result


def rest(server, seconds):
    """Memory and descriptors once the clients are gone."""
    time.sleep(seconds)
    return server.rss_bytes(), server.descriptor_count()


def little(result):
    """How far the two figures for what is under way are apart, as a share of the larger."""
    sampled, computed = result["little"]["sampled"], result["little"]["computed"]
    return abs(sampled - computed) / max(sampled, computed, 1e-9)


def judge(options, result, memory, descriptors, status):
    """What is wrong. `memory` and `descriptors` are pairs: before, after."""
    faults = []
    drift = memory[1] / memory[0] - 1
    if result["wrong"]:
        faults.append(f"{result['wrong']} well-behaved visits went wrong")
    silent = [kind for kind, values in result.items() if "visits" in (values if isinstance(values, dict) else ())
              and not values["answers"]]  # fmt: skip
    if silent:
        faults.append(f"nothing came of {', '.join(silent)}")
    if drift > options.drift:
        faults.append(f"resident memory grew by {100 * drift:.2f} %")
    if descriptors[1] != descriptors[0]:
        faults.append(f"{descriptors[1] - descriptors[0]:+d} descriptors")
    if little(result) > options.little:
        faults.append(f"the load's figures are {100 * little(result):.0f} % apart by Little's law")
    if status != 0:
        faults.append(f"the server ended with status {status}")
    return faults


def soak(options, folder):
    static = make_files(folder)
    arena = [str(options.build / "arena"), "--loops", str(options.loops), "--data", folder]
    for name in ("--h1-tls", "--h2c", "--h2", "--h3", "--tls-check"):
        arena += [name, "off"]
    server_core, load_core = cores()
    seconds = options.minutes * 60
    with Server("arena", [*arena, "--h1", "127.0.0.1:0"], core=server_core if options.loops == 1 else None) as server:
        print(f"start: {describe(server)}")
        load(server, options.build, load_core, options.warm, options.interval, options.seed, static)
        before = rest(server, options.rest)
        print(f"warm:  {describe(server)}", flush=True)
        result = load(server, options.build, load_core, seconds, options.interval, options.seed + 1000, static)
        after = rest(server, options.rest)
        print(f"end:   {describe(server)}")
        server.process.send_signal(signal.SIGTERM)
        status = server.process.wait(30)
    memory, descriptors = zip(before, after, strict=True)
    faults = judge(options, result, memory, descriptors, status)
    answers = {kind: values["answers"] for kind, values in result.items() if "answers" in (values if isinstance(values, dict) else ())}
    print(f"answers: {answers}")
    print(f"under way: {result['little']['sampled']:.2f} seen, {result['little']['computed']:.2f} by Little's law")
    drift = 100 * (memory[1] / memory[0] - 1)
    print(f"soak: {'; '.join(faults) or 'passed'}; memory {drift:+.3f} %, wrong {result['wrong']}")
    return 1 if faults else 0


def self_test():
    kind = {"visits": 1, "answers": 1, "wrong": 0}
    good = {"wrong": 0, "little": {"sampled": 1.0, "computed": 1.05}, "keep_alive": kind}
    options = argparse.Namespace(drift=DRIFT_MAX, little=LITTLE_MAX)
    same = ((1000, 1000), (9, 9), 0)
    assert judge(options, good, *same) == []
    assert judge(options, {**good, "wrong": 1}, *same)
    assert judge(options, {**good, "keep_alive": {**kind, "answers": 0}}, *same)
    assert judge(options, {**good, "little": {"sampled": 1.0, "computed": 2.0}}, *same)
    assert judge(options, good, (1000, 1003), (9, 9), 0)
    assert judge(options, good, (1000, 1000), (9, 10), 0)
    assert judge(options, good, (1000, 1000), (9, 9), 1)
    print("soak: each check can fail")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true", help="proves that each check can fail")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--warm", type=float, default=WARM_SECONDS, help="seconds of load before memory counts (60)")
    parser.add_argument("--rest", type=float, default=REST_SECONDS, help="seconds without load before it is read (5)")
    parser.add_argument("--drift", type=float, default=DRIFT_MAX, help="growth of memory, at most (0.002)")
    parser.add_argument("--little", type=float, default=LITTLE_MAX, help="disagreement by Little's law, at most (0.1)")
    parser.add_argument("--interval", type=float, default=1, help="seconds between lines (1)")
    parser.add_argument("--loops", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.build is None:
        parser.error("--build: where the programs are")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    banner.print_banner(banner.banner(options.build))
    try:
        with tempfile.TemporaryDirectory(prefix="violet-soak-") as folder:
            return soak(options, folder)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"soak: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

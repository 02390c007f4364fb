#!/usr/bin/env python3
"""Mixed load on the arena entry for minutes, and what it leaves behind.

    make soak MINUTES=10
    bench/soak.py --build build/bench --minutes 10 [--loops 1]

Warms the server up with the same load, lets it rest and notes memory and descriptors; loads it for the given time, a
line each interval; lets it rest and compares. Passes when no well-behaved client was served wrongly, resident memory
is within 2 % of what it was, descriptors are back, and SIGTERM ends it with status 0.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import banner  # noqa: E402
from lab.process import LabError, Server, cores, on_core  # noqa: E402

REST_SECONDS = 5
GROWTH_MAX = 0.02


def describe(server):
    user, system = server.cpu_us()
    cpu = f"CPU {user / 1e6:.1f} + {system / 1e6:.1f} s"
    return f"RSS {server.rss_bytes() / 1048576:.2f} MiB, {server.descriptor_count()} descriptors, {cpu}"


def load(server, build, core, seconds, interval, seed):
    """Runs the load, echoing its lines with the server's state; returns its JSON object."""
    command = [f"{build}/mixed_load", "-s", f"{seconds:g}", "-i", f"{interval:g}", "-r", str(seed), server.url("")]
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


def rest(server):
    """Memory and descriptors once the clients are gone."""
    time.sleep(REST_SECONDS)
    return server.rss_bytes(), server.descriptor_count()


def soak(options):
    arena = [str(options.build / "arena"), "--h1", "127.0.0.1:0", "--loops", str(options.loops)]
    server_core, load_core = cores()
    seconds = options.minutes * 60
    faults = []
    with Server("arena", arena, core=server_core if options.loops == 1 else None) as server:
        print(f"start: {describe(server)}")
        load(server, options.build, load_core, min(60, max(30, seconds / 10)), 30, options.seed)
        memory, descriptors = rest(server)
        print(f"warm:  {describe(server)}", flush=True)
        result = load(server, options.build, load_core, seconds, options.interval, options.seed + 1000)
        memory_after, descriptors_after = rest(server)
        print(f"end:   {describe(server)}")
        growth = memory_after / memory - 1
        if result["wrong"]:
            faults.append(f"{result['wrong']} well-behaved visits went wrong")
        if growth > GROWTH_MAX:
            faults.append(f"resident memory grew by {100 * growth:.1f} %")
        if descriptors_after != descriptors:
            faults.append(f"{descriptors_after - descriptors:+d} descriptors")
        server.process.send_signal(signal.SIGTERM)
        status = server.process.wait(30)
        if status != 0:
            faults.append(f"the server ended with status {status}")
    answers = {kind: values["answers"] for kind, values in result.items() if isinstance(values, dict)}
    print(f"answers: {answers}")
    print(f"soak: {'; '.join(faults) or 'passed'}; memory {100 * growth:+.2f} %, wrong {result['wrong']}")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--interval", type=float, default=15, help="seconds between lines (15)")
    parser.add_argument("--loops", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    banner.print_banner(banner.banner(options.build))
    try:
        return soak(options)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"soak: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

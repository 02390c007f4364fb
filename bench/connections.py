#!/usr/bin/env python3
"""How many connections violet holds, and what each weighs.

    make lab-connections N=1000000               idle keep-alive connections of HTTP/1.1
    make lab-connections N=100000 KIND=tls       the same over TLS; KIND=h2 HTTP/2; KIND=ws WebSocket
    bench/connections.py --build build/bench -n 20000 --idle 5

Opens connections in steps, each proven by a request, reads the memory of the server's processes by id at each step, lets
all be idle for a minute, asks each once more, closes all. A process may hold as many as it may have descriptors, so that
servers (--processes of the entry) and clients are as many processes as that takes. User memory is what the server's
processes have resident; the kernel's is read apart. Passes when every request was answered, descriptors are back, the
fit is straight and the weight within its mark.
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

from lab import banner, crowd  # noqa: E402
from lab.idle import least_squares  # noqa: E402
from lab.process import LabError  # noqa: E402
from lab.table import Report, Row  # noqa: E402

MILLION = (0, 1000, 10000, 50000, 100000, 250000, 500000, 1000000)
WARM_EACH = 20
FIT_MIN = 0.99
# Of the keep-alive time, so that nothing ends by itself: a million take minutes to come.
IDLE_LIMIT_SECONDS = 7200


def steps(wanted, is_quick):
    if is_quick:
        return (0, wanted // 2, wanted)
    return MILLION if wanted == MILLION[-1] else tuple(wanted * i // 8 for i in range(9))


def climb(held, sizes):
    """[(connections, resident, proportional)], what failed, and the kernel's growth."""
    points, failed = [], 0
    first, first_slabs = crowd.kernel(), crowd.slabs()
    print(f"\n{'connections':>12}{'resident MiB':>14}{'own share MiB':>15}{'TCP MiB':>10}{'slab MiB':>10}{'sockets':>10}{'s':>7}")
    began = time.monotonic()
    for size in sizes:
        failed += held.open(size) if size else 0
        rss, pss = held.settled()
        points.append((size, rss, pss))
        now = crowd.kernel()
        print(f"{size:>12,}{rss / 2**20:>14.2f}{pss / 2**20:>15.2f}{now['tcp_bytes'] / 2**20:>10.0f}"
              f"{now['slab_bytes'] / 2**20:>10.0f}{now['sockets']:>10,}{time.monotonic() - began:>7.0f}", flush=True)  # fmt: skip
    kernel_bytes = sum(now[name] - first[name] for name in ("tcp_bytes", "slab_bytes")) / sizes[-1]
    grown = crowd.growth(first_slabs, crowd.slabs())
    if grown:
        print("  slabs: " + ", ".join(f"{name} {size / 2**20:.0f} MiB" for size, name in grown))
    return points, failed, kernel_bytes


def be_idle(held, seconds, failed):
    print(f"  idle for {seconds:g} s", flush=True)
    time.sleep(seconds)
    answered, wrong = held.ask()
    return answered, failed + wrong


def measure(options, report):
    processes = options.processes or -(-options.n // crowd.capacity())
    must = options.mark or crowd.KINDS[options.kind][2]
    pause = 0.05 if options.quick else 0.5
    with crowd.Crowd(options.build, options.kind, processes, IDLE_LIMIT_SECONDS, pause) as held:
        base = held.server.descriptor_count()
        # What a process needs once is not a connection's.
        held.open(WARM_EACH * processes)
        held.close()
        held.descriptors_left(base)
        points, failed, kernel_bytes = climb(held, steps(options.n, options.quick))
        answered, failed = be_idle(held, options.idle, failed)
        held.close()
        left = held.descriptors_left(base)
        closed = held.settled()[0]
    slope, intercept, fit, residuals = least_squares([(size, rss) for size, rss, _ in points])
    share = least_squares([(size, pss) for size, _, pss in points])[0]
    print(f"  fit: {slope:.1f} B each, {intercept / 2**20:.2f} MiB without any, R² {fit:.6f}; residuals in KiB "
          + " ".join(f"{residual / 1024:+.0f}" for residual in residuals))  # fmt: skip
    one = lambda value: {"arena": value}  # noqa: E731
    report.add(
        f"{options.n:,} idle connections, {options.kind}",
        [
            Row("user memory, resident bytes each", one(slope), must=must),
            Row("the same by own share (Pss)", one(share)),
            Row("R²", one(fit), digits=6),
            Row("largest residual, KiB", one(max(map(abs, residuals)) / 1024)),
            Row("MiB without any", one(intercept / 2**20), digits=2),
            Row("MiB after closing all", one(closed / 2**20), digits=2),
            Row("kernel memory, bytes a pair of ends", one(kernel_bytes)),
            Row("server processes", one(processes)),
            Row("answered before", one(options.n)),
            Row(f"answered after {options.idle:g} idle seconds", one(answered)),
            Row("failed", one(failed), must=0),
            Row("descriptors left over", one(left), must=0),
        ],
        ["arena"],
    )
    faults = report.missed()
    if fit < FIT_MIN and not options.quick:
        faults.append("the fit is not straight")
    if answered != options.n:
        faults.append(f"{options.n - answered:,} not answered after being idle")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("-n", type=int, default=1000000, help="connections (1000000)")
    parser.add_argument("--kind", choices=tuple(crowd.KINDS), default="h1")
    parser.add_argument("--idle", type=float, default=60, help="seconds without a request (60)")
    parser.add_argument("--processes", type=int, default=0, help="servers, and clients; 0: as many as descriptors ask for")
    parser.add_argument("--mark", type=int, default=0, help="bytes of user memory each, at most; 0: that of the kind")
    parser.add_argument("--quick", action="store_true", help="three steps and no patience: shows that it works")
    parser.add_argument("--json", metavar="FILE", help="for bench/figures.py add")
    options = parser.parse_args()
    if options.n < 8:
        parser.error("-n: at least 8")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    values = banner.banner(options.build)
    banner.print_banner(values)
    report = Report()
    try:
        faults = measure(options, report)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"connections: {error}", file=sys.stderr)
        return 2
    if options.json:
        found = {"banner": values, "costs": None, "sections": report.as_json(), "missed": report.missed()}
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    print(f"connections: {'; '.join(faults) or 'passed'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""Counters beside the limit servers: instructions where a turn of the loop serves many, and system calls under load.

What each shape of request costs by itself is counted in count/ and held against the budgets.
"""

import json
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from .count import ledger, shapes
from .count.subject import Subject
from .process import LabError, run_on
from .table import Row

# How many of eight connections one turn finds ready is left to chance.
SPREAD_MAX = 0.05


def instructions(arms):
    """Rows of the promised shapes."""
    wanted = [shape for shape, _, _ in shapes.MARKS]
    got = {}
    for arm in arms:
        is_arena = arm.name == "arena"
        subject = Subject(pathlib.Path(arm.command[0]), is_arena=is_arena, is_limit=not is_arena)
        got[arm.name] = ledger.count_instructions(subject, wanted, spread_max=SPREAD_MAX)
    return [
        Row(shape.name, {name: values[shape.name] for name, values in got.items()}, must, aim)
        for shape, must, aim in shapes.MARKS
    ]


# --- system calls


def perf_works():
    if not shutil.which("perf"):
        return False
    command = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return re.search(r"^\d+,,raw_syscalls", done.stderr, re.MULTILINE) is not None


class SyscallCounter:
    """perf's tracepoint where it is allowed, for it hardly slows the server; else strace, which does."""

    def __init__(self, pid):
        self.output = tempfile.NamedTemporaryFile(prefix="violet-bench-syscalls-")  # noqa: SIM115 closed in __exit__
        self.uses_perf = perf_works()
        if self.uses_perf:
            command = ["perf", "stat", "-x,", "-o", self.output.name, "-e", "raw_syscalls:sys_enter", "-p", str(pid)]
        else:
            command = ["strace", "-c", "-f", "-o", self.output.name, "-p", str(pid)]
        self.tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.tracer.poll() is None:
            self.tracer.kill()
            self.tracer.wait()
        self.output.close()

    def finish(self):
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.wait(20)
        text = pathlib.Path(self.output.name).read_text()
        pattern = r"^(\d+),,raw_syscalls" if self.uses_perf else r"^\s*100\.00\s+\S+\s+\S*\s*(\d+)\s.*total$"
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            raise LabError(f"no count of system calls in {text[-200:]!r}")
        return int(found[1])


def system_calls(arm, build, server_core, load_core, requests):
    """[(name, median, note)] for 64 connections, one request at a time and 16 pipelined; connecting counted in."""
    results = []
    load = str(pathlib.Path(build, "pipeline_load"))
    for name, shape, depth, count in (
        ("GET, 64 connections", "get", 1, requests),
        ("GET, 16 pipelined, a batch", "pipelined", 16, requests * 4),
    ):
        with arm.start(server_core) as server:
            url = server.url(arm.target(shape))
            command = [load, "-c", "64", "-d", str(depth), "-s", "60", "-n"]
            run_on(load_core, [*command, "20000", url], 70)
            readings = []
            # How many events one wait returns depends on what else the machine does.
            for _ in range(3):
                with SyscallCounter(server.pid) as counter:
                    answer = json.loads(run_on(load_core, [*command, str(count), url], 70))
                    total = counter.finish()
                if answer["wrong"] or answer["failed"]:
                    raise LabError(f"{arm.name}: {answer}")
                readings.append(total * depth / answer["requests"])
            results.append((name, statistics.median(readings), f"{arm.name} {min(readings):.3f} to {max(readings):.3f}"))
    return results


CALL_MARKS = {"GET, 64 connections": (2.12, 2.12), "GET, 16 pipelined, a batch": (2.2, 2.12)}


def call_rows(arms, build, server_core, load_core, requests):
    rows = {}
    for arm in arms:
        for name, value, note in system_calls(arm, build, server_core, load_core, requests):
            must, aim = CALL_MARKS[name]
            row = rows.setdefault(name, Row(name, {}, must, aim, digits=3))
            row.values[arm.name] = value
            row.note = f"{row.note}; {note}" if row.note else note
    return list(rows.values())


def measure(arms, build, server_core, load_core, report, is_quick):
    own = [arm for arm in arms.values() if not arm.is_peer]
    names = [arm.name for arm in own]
    if shutil.which("valgrind"):
        report.add("user instructions a request (callgrind)", instructions(own), names)
    else:
        print("\nnotice: valgrind is not installed: no instruction counts")
    if not perf_works() and not shutil.which("strace"):
        print("\nnotice: neither perf nor strace can count system calls here")
        return
    rows = call_rows(own, build, server_core, load_core, 20000 if is_quick else 200000)
    report.add(f"system calls ({'perf' if perf_works() else 'strace, which slows the server'})", rows, names)
